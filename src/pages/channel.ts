/** The form of the messages that this version's pages send. */
export const messageVersion = 1

/** The channel of that name; null where there is none, or where a browser keeps a site's data from it. */
export function openChannel(name: string, onMessage: (data: unknown) => void): BroadcastChannel | null {
  try {
    const channel = new BroadcastChannel(name)
    channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => onMessage(data))
    // a waiting channel must not keep a process alive that has nothing else to do
    ;(channel as { unref?: () => void }).unref?.()
    return channel
  } catch {
    return null
  }
}
