/** One page as the DevTools protocol has it, which may be hidden and frozen. */
export interface DevToolsPage {
  send(method: string, parameters?: object): Promise<Record<string, unknown>>
  /** What an expression comes to, as JSON, once its promise has settled. */
  run(expression: string): Promise<unknown>
}

interface Message {
  id?: number
  result?: Record<string, unknown>
  error?: { message: string }
}

/** The DevTools protocol over one socket: pages by their targets. */
export async function devTools(endpoint: string): Promise<{ open(url: string): Promise<DevToolsPage>; close(): void }> {
  const socket = new WebSocket(endpoint)
  const waiting = new Map<number, (message: Message) => void>()
  let last = 0
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    if (message.id !== undefined) waiting.get(message.id)?.(message)
  }
  await new Promise((resolve) => (socket.onopen = resolve))

  async function send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++last
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }))
    const { result = {}, error } = await answered
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }

  return {
    async open(url) {
      const { targetId } = await send('Target.createTarget', { url })
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
      const page: DevToolsPage = {
        send: (method, parameters) => send(method, parameters, String(sessionId)),
        async run(expression) {
          const { result } = await page.send('Runtime.evaluate', {
            expression,
            awaitPromise: true,
            returnByValue: true,
          })
          return (result as { value: unknown }).value
        },
      }
      return page
    },
    close: () => socket.close(),
  }
}
