/** What the shop is told when it starts: where the try-on service is, and what it sells. */
export interface Settings {
  baseUrl: string
  apiKey: string
  products: Product[]
}

export interface Product {
  id: string
  title: string
  price: string
  image: string
  funnelIds: number[]
  variants: Variant[]
}

export interface Variant {
  id: string
  title: string
  available: boolean
}

/** Settings are read at run time, so that a new key or address needs no new build. */
export async function loadSettings(): Promise<Settings> {
  const answer = await fetch('/settings.json', { cache: 'no-store' })
  if (!answer.ok) throw new Error(`settings.json answered ${answer.status}`)
  return (await answer.json()) as Settings
}
