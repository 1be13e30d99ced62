import { describe, expect, it } from 'vitest'
import type { FlowStorage } from 'fitting-room'

/** What a storage adapter must do; run for every adapter, in Node and in a real browser. `open` gives another view of the same data. */
export function storageConformance(
  name: string,
  open: () => FlowStorage | Promise<FlowStorage>,
  { lasting = true } = {},
): void {
  describe(`storage: ${name}`, () => {
    const keys = ['a:b', 'a:b:c', 'a.b', 'a_b', 'a-b', 'A:b', 'a:B', 'ab']
    const value = (text: string) => JSON.stringify({ text, savedAt: 1 })

    it('answers null for what was never set', async () => {
      expect(await (await open()).getItem('nothing')).toBeNull()
    })

    it('gives back what was set, and the newest of several', async () => {
      const storage = await open()
      await storage.setItem('set', value('first'))
      await storage.setItem('set', value('second'))
      expect(await storage.getItem('set')).toBe(value('second'))
    })

    it('keeps keys apart that nearly collide', async () => {
      const storage = await open()
      for (const key of keys) await storage.setItem(key, value(key))
      for (const key of keys) expect(await storage.getItem(key)).toBe(value(key))
      await storage.removeItem('a:b')
      expect(await storage.getItem('a:b')).toBeNull()
      expect(await storage.getItem('a:b:c')).toBe(value('a:b:c'))
    })

    it('removes, also what was never there', async () => {
      const storage = await open()
      await storage.setItem('gone', value('x'))
      await storage.removeItem('gone')
      await storage.removeItem('gone')
      expect(await storage.getItem('gone')).toBeNull()
    })

    it('keeps text of every kind and of 100 kB', async () => {
      const storage = await open()
      for (const text of ['', 'ä漢🧥\u0000"\\', 'x'.repeat(100_000)]) {
        await storage.setItem('text', value(text))
        expect(await storage.getItem('text')).toBe(value(text))
      }
    })

    it('updates from what stands there, and removes by null', async () => {
      const storage = await open()
      await storage.removeItem('counter')
      const seen: (string | null)[] = []
      await storage.update?.('counter', (old) => (seen.push(old), value('one')))
      await storage.update?.('counter', (old) => (seen.push(old), null))
      expect(seen).toEqual([null, value('one')])
      expect(await storage.getItem('counter')).toBeNull()
    })

    it('loses no update of two writers at once', async () => {
      const writers = lasting ? [await open(), await open()] : await sameTwice()
      await writers[0]?.setItem('sum', JSON.stringify({ sum: 0, savedAt: 1 }))
      const add = (storage: FlowStorage | undefined) =>
        storage?.update?.('sum', (old) =>
          JSON.stringify({ sum: (JSON.parse(old ?? '{}') as { sum: number }).sum + 1, savedAt: 1 }),
        )
      await Promise.all(Array.from({ length: 40 }, (_, turn) => add(writers[turn % 2])))
      expect(JSON.parse(String(await writers[0]?.getItem('sum')))).toMatchObject({ sum: 40 })
    })

    it('leaves the old value when a change throws', async () => {
      const storage = await open()
      await storage.setItem('kept', value('old'))
      const failing = async () =>
        storage.update?.('kept', () => {
          throw new RangeError('no')
        })
      await expect(failing()).rejects.toThrow('no')
      expect(await storage.getItem('kept')).toBe(value('old'))
    })

    if (lasting) {
      it('shows another opener what was written', async () => {
        await (await open()).setItem('shared', value('x'))
        expect(await (await open()).getItem('shared')).toBe(value('x'))
      })
    }

    it('keeps photos by bytes and type, if it keeps any', async () => {
      const { photos } = await open()
      if (!photos) return
      await photos.set('photo:1', { bytes: new Uint8Array([1, 2, 3]).buffer, type: 'image/png' })
      const photo = await photos.get('photo:1')
      expect(photo?.type).toBe('image/png')
      expect(new Uint8Array(photo?.bytes ?? new ArrayBuffer())).toEqual(new Uint8Array([1, 2, 3]))
      expect(await photos.keys?.()).toEqual(['photo:1'])
      await photos.remove('photo:1')
      expect(await photos.keys?.()).toEqual([])
      expect(await photos.get('photo:1')).toBeUndefined()
    })

    async function sameTwice(): Promise<FlowStorage[]> {
      const storage = await open()
      return [storage, storage]
    }
  })
}
