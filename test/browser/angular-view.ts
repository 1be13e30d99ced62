import { Component, inject, InjectionToken } from '@angular/core'
import type { Readable } from 'fitting-room'
import { useTryOn } from 'fitting-room/angular'

/** What is bound, and how it is shown. */
export interface Shown {
  source: Readable<any> | (() => Readable<any>)
  show: (value: any) => string
}
export const shown = new InjectionToken<Shown>('shown')

class ViewComponent {
  #shown = inject(shown)
  #view = useTryOn(this.#shown.source)
  text = () => this.#shown.show(this.#view())
}

/** As a compiler would have it, in the page as on a server. */
export const View = Component({ selector: 'test-view', template: '<p data-view="">{{ text() }}</p>' })(ViewComponent)
