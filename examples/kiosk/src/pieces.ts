/// <reference types="vite/client" />
import breton from '@fitting-room/service/garments/breton-tee.svg'
import denim from '@fitting-room/service/garments/denim-jacket.svg'
import sunglasses from '@fitting-room/service/garments/round-sunglasses.svg'
import dress from '@fitting-room/service/garments/wrap-dress.svg'
import { room } from './room.ts'

export interface Piece {
  productId: string
  title: string
  price: string
  image: string
  funnelIds: number[]
  /** Variant IDs by what they are called. */
  sizes: Record<string, string>
}

/** What hangs beside the display. */
export const pieces: readonly Piece[] = [
  {
    productId: '1001',
    title: 'Breton tee',
    price: '€39',
    image: breton,
    funnelIds: [11],
    sizes: { S: '2001', M: '2002', L: '2003' },
  },
  {
    productId: '1002',
    title: 'Denim jacket',
    price: '€89',
    image: denim,
    funnelIds: [11],
    sizes: { S: '2011', M: '2012' },
  },
  {
    productId: '1005',
    title: 'Wrap dress',
    price: '€75',
    image: dress,
    funnelIds: [13],
    sizes: { S: '2041', M: '2042' },
  },
  {
    productId: '1006',
    title: 'Round sunglasses',
    price: '€59',
    image: sunglasses,
    funnelIds: [14],
    sizes: { 'One size': '2051' },
  },
]

export const pieceOf = (productId: string) => pieces.find((piece) => piece.productId === productId)

export const tryOnOf = ({ productId, funnelIds }: Piece, variantId: string) =>
  room.tryOn({ productId, variantId, funnelIds })
