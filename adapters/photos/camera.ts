import { stopped, TryOnError } from '../../src/rules/try-on-error.ts'

export interface CameraOptions {
  /** Which camera, where there are several. Default: `user`, the one that looks at the shopper. */
  facing?: 'user' | 'environment' | undefined
}

/** A camera within the page; the operating system's own may cost the page its memory, and so a reload. */
export interface Camera {
  /** What the camera sees now, as a JPEG without metadata. */
  take(): Promise<Blob>
  /** Switches the camera off; leaving the page does, too. */
  close(): void
}

/**
 * Opens a camera and shows in `video` what it sees; call it after a click. Rejects with a `TryOnError` of kind `photo`,
 * reason `camera`, if there is none or its use is not permitted, and of kind `stopped`, reason `aborted`, if another
 * one was opened in the same `video` in the meantime.
 */
export async function openCamera(video: HTMLVideoElement, { facing = 'user' }: CameraOptions = {}): Promise<Camera> {
  const noCamera = (cause?: unknown) => new TryOnError({ kind: 'photo', reason: 'camera' }, null, cause)
  // pages that are not secure have none
  const devices = navigator.mediaDevices as MediaDevices | undefined
  if (!devices) throw noCamera()
  const wanted = { audio: false, video: { facingMode: facing, width: { ideal: 1920 }, height: { ideal: 1920 } } }
  let hasLeft = false
  const leave = () => void (hasLeft = true)
  addEventListener('pagehide', leave)
  const asked = devices.getUserMedia(wanted).finally(() => removeEventListener('pagehide', leave))
  const stream = await asked.catch((cause: unknown) => {
    throw noCamera(cause)
  })

  function close(): void {
    for (const track of stream.getTracks()) track.stop()
    if (video.srcObject === stream) video.srcObject = null
    removeEventListener('pagehide', close)
  }
  addEventListener('pagehide', close)
  if (hasLeft) {
    close()
    throw noCamera()
  }

  video.muted = true
  video.playsInline = true
  video.srcObject = stream
  await video.play().catch((cause: unknown) => {
    const isReplaced = video.srcObject !== stream
    close()
    throw isReplaced ? stopped('aborted') : noCamera(cause)
  })

  return {
    close,
    async take() {
      const canvas = document.createElement('canvas')
      canvas.width = video.videoWidth
      canvas.height = video.videoHeight
      canvas.getContext('2d')?.drawImage(video, 0, 0)
      const photo = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.92))
      // it was closed before it had seen anything
      if (photo === null || !stream.active) throw noCamera()
      return photo
    },
  }
}
