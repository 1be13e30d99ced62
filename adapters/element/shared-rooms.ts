import { createFittingRoom, type FittingRoom } from 'fitting-room'

/** What an element's attributes say of its room. */
export interface RoomName {
  baseUrl: string
  namespace: string | null
  apiKey: string
}

/** A room, and the elements of the page that have it: all that say the same of it. */
export interface SharedRoom extends RoomName {
  readonly room: FittingRoom
  readonly users: Set<Element>
}

const shared = new Set<SharedRoom>()

/** The room of an element, which had that one `before`. */
export function roomFor(element: Element, before: SharedRoom | null, name: RoomName): SharedRoom {
  const alike = [...shared].filter(({ baseUrl, namespace }) => baseUrl === name.baseUrl && namespace === name.namespace)
  const known = alike.find(({ apiKey }) => apiKey === name.apiKey)
  // a key may be renewed while the page is open; another element's is none of it
  const isRenewed = !known && before && alike.includes(before) && isLeft(before)
  const own = known ?? (isRenewed ? Object.assign(before, { apiKey: name.apiKey }) : made(name))
  own.users.add(element)
  // it would go on with a key that nobody names any more
  for (const each of alike) if (each !== own && isLeft(each) && shared.delete(each)) each.room.close()
  return own
}

const isLeft = ({ users, apiKey }: SharedRoom) => ![...users].some((each) => each.getAttribute('api-key') === apiKey)

function made({ baseUrl, namespace, apiKey }: RoomName): SharedRoom {
  const key = () => own.apiKey
  const room = createFittingRoom({ baseUrl, apiKey: key, ...(namespace && { namespace }) })
  const own: SharedRoom = { baseUrl, namespace, apiKey, room, users: new Set() }
  shared.add(own)
  return own
}
