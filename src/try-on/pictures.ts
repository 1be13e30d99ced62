import type { Written } from '../../machines/try-on.types.ts'
import type { Attempts } from '../records/attempts.ts'
import type { Shopper } from '../records/epochs.ts'
import type { Problem } from '../rules/problem.ts'
import type { TryOnView } from '../rules/view.ts'

/** The try-on whose picture it is, as of now. */
export interface Pictured {
  /** What was shown as it was asked for, and to whom; and what is now. */
  seen: TryOnView
  view: () => TryOnView
  by: Shopper
  attempts: Attempts
  /** Shows what was written, here and on the other pages. */
  learn(written: Written): void
  /** Has the view say what is wrong. */
  refuse(problem: Problem): void
}

/** The pictures of a room's try-ons as bytes, and what is done where one is not to be had. */
export interface Pictures {
  /** What the view shows; rejects with kind `picture`, or with what kept its job from being asked. */
  picture(of: Pictured): Promise<Blob>
  /**
   * A page could not show the final picture, or not the image of that address: its job is asked once more. Rejects as
   * `picture` does, and has the view say it.
   */
  failed(of: Pictured, address: string | undefined): Promise<void>
  /** Keeps the bytes of what a view shows to that shopper, once. */
  keep(view: TryOnView, by: Shopper): Promise<void>
}
