declare module 'heic-decode' {
  export default function decode(file: {
    buffer: Uint8Array
  }): Promise<{ width: number; height: number; data: ArrayBuffer }>
}
