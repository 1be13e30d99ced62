import type { ApiError } from './resources.ts'

/** The error situations that contract §7 names, each with its status and the fields of its body. */
export const situations = {
  productNotInFunnel: { status: 403, error: 'Product is not assigned to this funnel' },
  emailRequired: { status: 403, error: 'email_required', code: 'EMAIL_REQUIRED' },
  sdkNotConfigured: { status: 403, error: 'SDK integration is not configured', code: 'SDK_NOT_CONFIGURED' },
  tryOnLimitReached: { status: 429, error: 'try_on_limit_reached', code: 'TRY_ON_LIMIT_REACHED' },
  rateLimitExceeded: { status: 429, error: 'Rate limit exceeded' },
  couldNotCreateGeneration: { status: 500, error: 'Could not create generation' },
} as const satisfies Record<string, { status: number; error: string; code?: string }>

export type ErrorSituation = keyof typeof situations

type Named = { status: number; error: string; code?: string }

/** Which named situation an error answer is: by its `code` when that is known, else by its `error` text (contract §7). */
export function situationOf(status: number, body: ApiError): ErrorSituation | null {
  const named = (Object.entries(situations) as [ErrorSituation, Named][]).filter(([, known]) => known.status === status)
  const found =
    named.find(([, known]) => known.code !== undefined && known.code === body.code) ??
    named.find(([, known]) => known.error === body.error)
  return found?.[0] ?? null
}
