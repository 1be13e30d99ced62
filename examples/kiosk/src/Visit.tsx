import { isTryOnError, type HistoryEntry } from 'fitting-room'
import { useTryOn } from 'fitting-room/react'
import { useEffect, useRef, useState } from 'react'
import { Booth } from './Booth.tsx'
import { usePicture } from './picture-address.ts'
import { pieceOf, pieces, type Piece } from './pieces.ts'
import { room, session, words } from './room.ts'

/** A piece, and what was tried on of it before. */
interface Chosen {
  piece: Piece
  entry?: HistoryEntry
}

const choiceOf = (entry: HistoryEntry): Chosen | null => {
  const piece = pieceOf(entry.productId)
  return piece ? { piece, entry } : null
}

/** Where a visit that goes on after a loss of power begins: at what was tried on last. */
const lastOf = (history: readonly HistoryEntry[]) => history[0] && choiceOf(history[0])

export function Visit() {
  const history = useTryOn(room.history)
  const [chosen, setChosen] = useState<Chosen | null>()
  const choice = chosen === undefined ? lastOf(history) : chosen
  return (
    <>
      <header>
        <p className="brand">Maison Breton</p>
        <button data-testid="done" onClick={() => session.end()}>
          I am done
        </button>
      </header>
      <main className="visit">
        {choice ? (
          <Booth key={choice.entry?.attemptId ?? choice.piece.productId} {...choice} onBack={() => setChosen(null)} />
        ) : (
          <Choice onChoose={(piece) => setChosen({ piece })} />
        )}
        <Pictures history={history} onOpen={setChosen} />
      </main>
    </>
  )
}

function Choice({ onChoose }: { onChoose: (piece: Piece) => void }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <section>
      <h1 ref={heading} tabIndex={-1}>
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
  onOpen: (choice: Chosen) => void
}

/** What this shopper has tried on so far. */
function Pictures({ history, onOpen }: PicturesProps) {
  const shown = history.flatMap((entry) => {
    const choice = choiceOf(entry)
    return choice ? [{ entry, choice }] : []
  })
  if (shown.length === 0) return null
  return (
    <section className="pictures" data-testid="pictures">
      <h2>Your pictures</h2>
      <ul>
        {shown.map(({ entry, choice }) => (
          <li key={entry.attemptId}>
            <button onClick={() => onOpen(choice)}>
              <Thumbnail entry={entry} otherwise={choice.piece.image} />
              <strong>{choice.piece.title}</strong>
              <span>{words.title(entry)}</span>
            </button>
            <Forget entry={entry} title={choice.piece.title} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Thumbnail({ entry, otherwise }: { entry: HistoryEntry; otherwise: string }) {
  const picture = entry.result ?? entry.preview
  return <img alt="" {...usePicture(picture?.imageUrl, otherwise, () => entry.open().picture())} />
}

/** Forgets one picture; where it may still be paid for that is said first. */
function Forget({ entry, title }: { entry: HistoryEntry; title: string }) {
  const [warning, setWarning] = useState<string | null>(null)
  const forget = () =>
    entry
      .open()
      .discard({ abandonPaidJob: warning !== null })
      .catch((error: unknown) => setWarning(isTryOnError(error) ? words.problem(error.problem) : null))
  return (
    <>
      {warning && <p role="alert">{warning}</p>}
      <button className="quiet" aria-label={`${words.intent('discard')}: ${title}`} onClick={forget}>
        {words.intent('discard')}
      </button>
    </>
  )
}
