import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Listener = (request: IncomingMessage, answer: ServerResponse) => unknown

interface Taken {
  listener: Listener
  /** Ends a connection as soon as each request that was whole is answered; false where none is owed an answer. */
  endAnswered(socket: Socket): boolean
}

/** How many requests of one connection are carried out at once: who waits for answers has two, as the last byte of one arrives. */
export const mostAtOnce = 4

/**
 * Who sends more requests on one connection without waiting for answers gets those of the first few, and the connection
 * ends: one read may hold thousands, all in one turn.
 */
export function fewAtOnce(listener: Listener): Taken {
  const underWay = new WeakMap<Socket, ServerResponse[]>()
  const ending = new WeakSet<Socket>()

  function endWith(socket: Socket, last: ServerResponse): void {
    ending.add(socket)
    socket.pause()
    last.shouldKeepAlive = false
    // where its head was out before
    last.once('finish', () => socket.destroySoon())
  }

  return {
    listener(request, answer) {
      const { socket } = request
      if (ending.has(socket)) return
      const answers = underWay.get(socket) ?? []
      while (answers[0]?.writableFinished) answers.shift()
      const last = answers[mostAtOnce - 1]
      if (last) return endWith(socket, last)
      if (answers.push(answer) === 1) underWay.set(socket, answers)
      return listener(request, answer)
    },
    endAnswered(socket) {
      if (ending.has(socket)) return true
      const last = underWay.get(socket)?.findLast(({ req, writableFinished }) => req.complete && !writableFinished)
      if (last) endWith(socket, last)
      return last !== undefined
    },
  }
}
