import type { HistoryEntry } from 'fitting-room'
import { useTryOn } from 'fitting-room/react'
import { useState } from 'react'
import { Booth } from './Booth.tsx'
import { pieceOf, pieces, type Piece } from './pieces.ts'
import { room, session, words } from './room.ts'

/** Where a visit that goes on after a loss of power begins: at what was tried on last. */
const lastOf = (history: readonly HistoryEntry[]) => history[0] && pieceOf(history[0].productId)

export function Visit() {
  const history = useTryOn(room.history)
  const [chosen, setChosen] = useState<Piece | null>()
  const piece = chosen === undefined ? lastOf(history) : chosen
  return (
    <>
      <header>
        <p className="brand">Maison Breton</p>
        <button data-testid="done" onClick={() => session.end()}>
          I am done
        </button>
      </header>
      <main className="visit">
        {piece ? (
          <Booth key={piece.productId} piece={piece} onBack={() => setChosen(null)} />
        ) : (
          <Choice onChoose={setChosen} />
        )}
        <Pictures history={history} onOpen={setChosen} />
      </main>
    </>
  )
}

function Choice({ onChoose }: { onChoose: (piece: Piece) => void }) {
  return (
    <section>
      <h1 ref={(heading) => heading?.focus()} tabIndex={-1}>
        What would you like to try on?
      </h1>
      <div className="pieces">
        {pieces.map((piece) => (
          <button
            key={piece.productId}
            className="piece"
            data-testid={`piece-${piece.productId}`}
            onClick={() => onChoose(piece)}
          >
            <img src={piece.image} alt="" />
            <strong>{piece.title}</strong>
            <span>{piece.price}</span>
          </button>
        ))}
      </div>
    </section>
  )
}

interface PicturesProps {
  history: readonly HistoryEntry[]
  onOpen: (piece: Piece) => void
}

/** What this shopper has tried on so far. */
function Pictures({ history, onOpen }: PicturesProps) {
  const shown = history.flatMap((entry) => {
    const piece = pieceOf(entry.productId)
    return piece ? [{ entry, piece }] : []
  })
  if (shown.length === 0) return null
  return (
    <section className="pictures" data-testid="pictures">
      <h2>Your pictures</h2>
      <ul>
        {shown.map(({ entry, piece }) => (
          <li key={entry.attemptId}>
            <button onClick={() => onOpen(piece)}>
              <img src={(entry.result ?? entry.preview)?.imageUrl ?? piece.image} alt="" />
              <strong>{piece.title}</strong>
              <span>{words.title(entry)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
