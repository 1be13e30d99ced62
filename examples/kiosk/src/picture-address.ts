import { useEffect, useState } from 'react'

/** The address of these bytes, for as long as they are shown. */
export function useObjectUrl(bytes: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!bytes) return setUrl(undefined)
    const made = URL.createObjectURL(bytes)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [bytes])
  return url
}

/** A picture by its address, or by what is kept of it where that is dead; `otherwise` where there is neither. */
export function usePicture(address: string | undefined, otherwise: string, load: () => Promise<Blob>) {
  const [dead, setDead] = useState<string>()
  const [loaded, setLoaded] = useState<{ of: string; bytes: Blob }>()
  const kept = useObjectUrl(loaded?.of === address ? loaded?.bytes : undefined)
  function onError() {
    if (address === undefined || address === dead) return
    setDead(address)
    load().then(
      (bytes) => setLoaded({ of: address, bytes }),
      () => undefined,
    )
  }
  return { src: address === dead ? (kept ?? otherwise) : address, onError }
}
