// pages load this when they ask for it: a module that it had in common with the door would be a chunk more for both

import type { TicketProblem } from '../rules/problem.ts'

/** What a ticket tells: which job it is, of which product variant, since when. Nothing in it is of the shopper. */
export interface Ticket {
  /** Digits. */
  productId: string
  /** Digits. */
  variantId: string
  jobId: string
  /** Epoch ms; the ticket has it to the second. */
  startedAt: number
}

/** Why a ticket cannot be used, or be had. */
export type TicketReason = TicketProblem['reason']

const form = /^(1\.([0-9a-z]+)\.(\d+)\.(\d+)\.([0-9a-f]{32})\.([0-9a-z]{1,9}))\.([0-9a-z]+)$/
const hexOfUuid = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/

/**
 * A ticket for rooms whose pages have that in common: about 60 to 85 characters of `A-Z a-z 0-9 .`, which a URL's fragment and
 * a QR code take as they are.
 */
export function ticketOf(room: string, { productId, variantId, jobId, startedAt }: Ticket): string {
  const since = Math.floor(startedAt / 1000).toString(36)
  const whole = ['1', markOf(room), productId, variantId, jobId.replaceAll('-', '').toLowerCase(), since].join('.')
  return `${whole}.${checkOf(whole)}`
}

/** What a ticket tells, or why it cannot be used in that room. */
export function readTicket(room: string, text: unknown): Ticket | TicketReason {
  const [, whole = '', mark, productId = '', variantId = '', job = '', since = '', check] =
    form.exec(typeof text === 'string' ? text.trim().toLowerCase() : '') ?? []
  if (check !== checkOf(whole)) return 'broken'
  if (mark !== markOf(room)) return 'foreign'
  const jobId = job.replace(hexOfUuid, '$1-$2-$3-$4-$5')
  return { productId, variantId, jobId, startedAt: parseInt(since, 36) * 1000 }
}

/** Tells a ticket that was cut short, or mistyped, from a whole one. */
const checkOf = (text: string) => markOf(text).slice(-3)

/** A short mark of a text (FNV-1a): it keeps texts apart. */
export function markOf(text: string): string {
  let mark = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) mark = Math.imul(mark ^ byte, 0x01000193) >>> 0
  return mark.toString(36)
}

/** What is wrong with tickets, for developers. */
export const ticketTexts: Record<TicketReason, string> = {
  noJob: 'there is no job yet to take along',
  broken: 'this is no whole ticket',
  foreign: 'the ticket is of another service or namespace',
  old: 'the ticket is older than what is kept here',
  repeated: 'the ticket was claimed here before; history has its try-on',
}
