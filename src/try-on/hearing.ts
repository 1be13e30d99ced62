import type { Ownership } from '../pages/ownership.ts'
import type { TabMessage } from '../pages/tabs.ts'
import type { Attempts } from '../records/attempts.ts'
import { isBefore } from '../rules/copies.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Asks } from './asks.ts'
import type { Company } from './company.ts'
import type { Runner } from './runner.ts'
import type { Serving } from './serving.ts'
import type { Sitting } from './sitting.ts'

/** What other pages say of one try-on. */
type OwnMessage = Extract<TabMessage, { name: string }>

interface HearingParts {
  attempts: Pick<Attempts, 'hold'>
  ownership: Pick<Ownership, 'exclusive'>
  asks: Asks
  company: Company
  serving: Serving
  sitting: Sitting
  /** What this page shows. */
  view: () => TryOnView
  /** What runs the machine here, if anything does. */
  runner: () => Runner | null
  /** Tells the other pages what this one shows. */
  tellView: () => void
}

/** What a page does with what the others say of a try-on. */
export function createHearing(parts: HearingParts): (message: OwnMessage) => void {
  const { attempts, ownership, asks, company, serving, sitting, view, runner, tellView } = parts

  function hearAnswer({ record, durable }: OwnMessage & { type: 'lateAnswer' }): void {
    const seat = sitting.seat()
    if (seat?.isWaiting && !durable) attempts.hold(record)
    // it may stand in place of what is run here, where no other page may do that as well
    const isOther = record.attemptId !== view().attempt?.id
    if (seat?.runner && ownership.exclusive && durable && isOther) void company.answerHello(seat, record.attemptId)
    const own = runner()
    const known = own?.getSnapshot().context.record
    const isNews = known?.attemptId === record.attemptId && isBefore(known, record)
    // two pages that both run it, as where no lease can be written, would tell each other without end
    if (durable || isNews) own?.send({ type: 'lateAnswer', written: { kind: 'stands', record, durable } })
  }

  /** It waits elsewhere: two pages of one storage may not know yet that it is one. */
  function hearFromElsewhere({ type }: OwnMessage): void {
    // who runs it there may not know yet where the pages of this storage wait; more would have it answer
    if (type === 'view' && sitting.seat()?.runner && sitting.isPlaced()) return tellView()
    // what has no job yet is not left in the middle of it
    const isUnderWay = ['preparing', 'submitting'].includes(view().state)
    if (!isUnderWay) sitting.moveOver()
  }

  return (message) => {
    const { type } = message
    if (type === 'answer') return company.hearAnswer(message)
    if (type === 'lateAnswer') return hearAnswer(message)
    if (message.place !== sitting.place()) return hearFromElsewhere(message)
    if (type === 'come') return asks.pass(message)
    if (type === 'knock') return serving.open(message.id)
    if (type === 'ask') return void serving.serve(message)
    const seat = sitting.seat()
    if (type === 'hello') return void (seat?.runner && company.answerHello(seat, message.seenAttempt))
    if (seat?.isWaiting) company.hearOwner(seat, message.view)
    else if (seat?.runner) void company.hearOther(seat, message.view.attempt?.id ?? null)
  }
}
