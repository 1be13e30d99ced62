// before everything else of Angular: what is not compiled beforehand is compiled in the page
import '@angular/compiler'
import {
  Component,
  createComponent,
  createEnvironmentInjector,
  inject,
  InjectionToken,
  Injector,
  runInInjectionContext,
  signal,
} from '@angular/core'
import { createApplication } from '@angular/platform-browser'
import { expect, it } from 'vitest'
import type { Readable } from 'fitting-room'
import { useTryOn } from 'fitting-room/angular'
import { bindingsSuite, counted } from './bindings.suite.ts'

interface Shown {
  source: Readable<any> | (() => Readable<any>)
  show: (value: any) => string
}
const shown = new InjectionToken<Shown>('shown')

class ViewComponent {
  #shown = inject(shown)
  #view = useTryOn(this.#shown.source)
  text = () => this.#shown.show(this.#view())
}
const View = Component({ selector: 'test-view', template: '<p data-view="">{{ text() }}</p>' })(ViewComponent)

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
