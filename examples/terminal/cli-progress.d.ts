declare module 'cli-progress' {
  export class SingleBar {
    constructor(options: { format: string; stream: NodeJS.WriteStream; hideCursor: boolean; gracefulExit: boolean })
    start(total: number, value: number, payload: { label: string }): void
    update(value: number, payload: { label: string }): void
    stop(): void
  }
}
