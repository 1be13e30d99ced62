/** A copy of bytes of any kind, of another realm too; null of what are none, and empty where they have been given away. */
export function ownBytes(bytes: unknown): ArrayBuffer | null {
  const isBuffer = Object.prototype.toString.call(bytes).endsWith('ArrayBuffer]')
  if (!isBuffer && !ArrayBuffer.isView(bytes)) return null
  try {
    const { buffer = bytes as ArrayBuffer, byteOffset, byteLength } = bytes as Partial<ArrayBufferView<ArrayBuffer>>
    return new Uint8Array(buffer, byteOffset, byteLength).slice().buffer
  } catch {
    return new ArrayBuffer(0)
  }
}
