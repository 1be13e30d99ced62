import type { PutPhoto } from '../ports.ts'
import { noRedirect } from './no-redirect.ts'

/** The status of what was led elsewhere. */
const redirected = 307

/** The browser's PUT: only XMLHttpRequest tells how many bytes have gone. */
const putByXhr: PutPhoto = (uploadUrl, photo, { signal, onProgress }) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const failed = () => reject(new TypeError('the photo could not be sent'))
    request.open('PUT', uploadUrl)
    // an answer without a type is read as XML otherwise, which Firefox complains of
    request.responseType = 'arraybuffer'
    request.setRequestHeader('Content-Type', photo.type)
    if (onProgress) {
      request.upload.onprogress = ({ loaded, total }) => onProgress({ sent: loaded, total })
    }
    // it follows redirects, and what has come to another address is not at this one
    request.onload = () => resolve(isLedElsewhere(request, uploadUrl) ? redirected : request.status)
    request.onerror = failed
    request.onabort = failed
    signal.addEventListener('abort', () => request.abort(), { once: true })
    request.send(photo.bytes)
  })

/** A browser may have made it https by itself, and not every platform says where it was answered. */
const isLedElsewhere = ({ responseURL }: XMLHttpRequest, uploadUrl: string) =>
  Boolean(responseURL) && bareOf(responseURL) !== bareOf(new URL(uploadUrl).href)
const bareOf = (url: string) => url.replace(/^https?:|#.*/g, '')

/** The PUT of every other platform; it tells of the start and the end only. */
const putByFetch: PutPhoto = async (uploadUrl, photo, { signal, onProgress }) => {
  const total = photo.bytes.byteLength
  onProgress?.({ sent: 0, total })
  const answer = await fetch(uploadUrl, {
    method: 'PUT',
    headers: { 'Content-Type': photo.type },
    body: photo.bytes,
    redirect: noRedirect(),
    credentials: 'omit',
    cache: 'no-store',
    signal,
  })
  await answer.arrayBuffer()
  onProgress?.({ sent: total, total })
  return answer.status
}

/** The photo's PUT, without the key, which is not the upload target's business (contract §5, rule 9). */
export const putPhoto: PutPhoto = (uploadUrl, photo, options) =>
  (typeof XMLHttpRequest === 'undefined' ? putByFetch : putByXhr)(uploadUrl, photo, options)
