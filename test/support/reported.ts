import { vi } from 'vitest'

/** What developers are told of on a server, until `end()`. */
export function reported() {
  const told: unknown[] = []
  const spied = vi.spyOn(console, 'error').mockImplementation((error) => void told.push(error))
  return { told, end: () => spied.mockRestore() }
}
