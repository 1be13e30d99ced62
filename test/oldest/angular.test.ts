// before everything else of Angular: what is not compiled beforehand is compiled in the page
import '@angular/compiler'
import * as angular from '@angular/core'
import { createApplication } from '@angular/platform-browser'
import { expect, it } from 'vitest'
import { useTryOn } from 'fitting-room/angular'
import { counted } from '../browser/bindings.suite.ts'

/** By its name of then. */
const zoneless: () => angular.EnvironmentProviders = Reflect.get(angular, 'provideExperimentalZonelessChangeDetection')

it('angular follows what is chosen, and lets go with its injector', async () => {
  const app = await createApplication({ providers: [zoneless()] })
  const injector = angular.createEnvironmentInjector([], app.injector)
  const [one, other] = [counted(), counted()]
  const chosen = angular.signal(one)
  const view = angular.runInInjectionContext(injector, () => useTryOn(() => ({ ...chosen().readable, initial: 0 })))
  one.set(1)
  other.set(2)
  expect(view()).toBe(0)
  app.tick()
  await expect.poll(() => view()).toBe(1)
  chosen.set(other)
  await expect.poll(() => [view(), one.listeners.size, other.listeners.size]).toEqual([2, 0, 1])
  injector.destroy()
  expect(other.listeners.size).toBe(0)
})
