// before everything else of Angular: what is not compiled beforehand is compiled in the page
import '@angular/compiler'
import { createComponent, createEnvironmentInjector, Injector, runInInjectionContext, signal } from '@angular/core'
import { bootstrapApplication, createApplication, provideClientHydration } from '@angular/platform-browser'
import { expect, it, onTestFinished } from 'vitest'
import { useTryOn } from 'fitting-room/angular'
import { room, TryOn } from '../../README.md?angular'
import photoUrl from '../../examples/sample/person.png'
import { shown, View, type Shown } from './angular-view.ts'
import { bindingsSuite, counted, hydrationSuite } from './bindings.suite.ts'

const { default: served } = await import('./angular-view.ts?served')
const app = await createApplication()

function mount(place: HTMLElement, useValue: Shown): () => void {
  const elementInjector = Injector.create({ providers: [{ provide: shown, useValue }] })
  const hostElement = place.appendChild(document.createElement('div'))
  const made = createComponent(View, { environmentInjector: app.injector, elementInjector, hostElement })
  app.attachView(made.hostView)
  app.tick()
  return () => {
    made.destroy()
    hostElement.remove()
  }
}

bindingsSuite(
  'angular',
  (place, readables, show) => {
    const ends = readables.map((source) => mount(place, { source, show }))
    return () => ends.forEach((end) => end())
  },
  (place, readables, show) => {
    const at = signal<0 | 1>(0)
    const unmount = mount(place, { source: () => readables[at()], show })
    return { select: (next) => at.set(next), unmount }
  },
)

hydrationSuite('angular', served, async (_, source) => {
  // where a server puts it, by which Angular knows that nobody has altered the page since
  const mark = document.createComment('nghm')
  document.body.prepend(mark)
  const useValue: Shown = { source, show: String }
  const made = await bootstrapApplication(View, { providers: [provideClientHydration(), { provide: shown, useValue }] })
  return () => {
    made.destroy()
    mark.remove()
  }
})

it('angular begins with the initial value, and follows in a service too, until its injector ends', async () => {
  const { readable, listeners, set } = counted()
  const injector = createEnvironmentInjector([], app.injector)
  set(1)
  const view = runInInjectionContext(injector, () => useTryOn({ ...readable, initial: 0 }))
  expect(view()).toBe(0)
  await expect.poll(() => view()).toBe(1)
  set(2)
  expect(view()).toBe(2)
  injector.destroy()
  expect(listeners.size).toBe(0)
})

it('the README’s component for Angular comes to a picture', async () => {
  const hostElement = document.body.appendChild(document.createElement('div'))
  const made = createComponent(TryOn, { environmentInjector: app.injector, hostElement })
  app.attachView(made.hostView)
  onTestFinished(async () => {
    made.destroy()
    hostElement.remove()
    await room.reset()
    room.close()
  })
  await expect.poll(() => hostElement.querySelector('p')?.textContent).toBe('idle')
  const chooser = hostElement.querySelector('input')!
  const transfer = new DataTransfer()
  transfer.items.add(new File([await (await fetch(photoUrl)).blob()], 'me.png'))
  chooser.files = transfer.files
  chooser.dispatchEvent(new Event('change'))
  await expect.poll(() => hostElement.querySelector('img')?.src ?? '').toMatch(/^http/)
  expect(chooser.disabled).toBe(false)
})
