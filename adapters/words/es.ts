import { isJobUnknown, nothingSent } from './protocol-error.ts'
import type { Texts } from './words.ts'

const photos = {
  missing: 'Vuelve a elegir tu foto.',
  empty: 'Este archivo está vacío. Elige otra foto.',
  type: 'Este archivo no es una foto que se pueda usar. Valen JPEG, PNG, WebP, HEIC y AVIF.',
  unreadable: 'No se ha podido leer este archivo. Elige otra foto.',
  url: 'Esta foto no tiene una dirección que se pueda usar.',
  unprepared: 'No se ha podido cargar una parte de esta página, así que tu foto no se ha enviado. Inténtalo de nuevo.',
  camera: 'No se puede usar la cámara. Elige una foto en su lugar.',
} as const

const advice = {
  small: 'Esta foto es muy pequeña.',
  narrow: 'Esta foto es una tira muy estrecha.',
  dark: 'Esta foto es casi negra.',
  own: 'Puede que esta foto no dé una buena imagen.',
} as const

const noAccess = 'La tienda no tiene acceso al probador ahora mismo.'

/** Spanish. */
export const es: Texts = {
  language: 'es',
  titles: {
    restoring: 'Un momento…',
    idle: 'Míralo puesto',
    preparing: 'Preparando tu foto',
    submitting: 'Camino del probador',
    needsEmail: 'Antes, una cosa',
    processing: 'Tu prueba está en marcha',
    preview: 'Ya casi está',
    stalled: ({ problem }) =>
      problem?.kind === 'core' ? 'El probador no se ha cargado' : 'Está tardando más de lo normal',
    unauthorized: 'El probador está cerrado ahora mismo',
    final: 'Aquí estás',
    failed: 'No ha funcionado',
    outcomeUnknown: 'No hemos recibido una respuesta clara',
    limitReached: 'Es todo por ahora',
    rejected: 'No se ha podido empezar esta prueba',
    protocolError: (view) => (isJobUnknown(view) ? 'Esta prueba ya no se conoce' : 'La respuesta no se entiende'),
  },
  sentences: {
    restoring: 'Miramos si ya te lo estabas probando.',
    idle: 'Añade una foto tuya, mirando a la cámara. Debería verse dónde se lleva esta prenda.',
    preparing: 'Tu foto está en camino.',
    submitting: 'Deja esta página abierta un momento.',
    needsEmail: 'La tienda pide tu correo electrónico antes de la próxima prueba.',
    processing: ({ durable }) =>
      `Suele tardar menos de un minuto.${durable ? ' Puedes salir de esta página: sigue sola.' : ''}`,
    preview: 'Esto es un primer vistazo. La imagen definitiva está en camino.',
    stalled: ({ attempt, problem }) => {
      if (problem?.kind === 'core') return 'No se ha enviado nada nuevo.'
      return attempt?.jobId
        ? 'Tu prueba aún puede terminar. Seguir esperando no cuesta nada; empezar otra puede costar otra prueba.'
        : 'Hasta ahora no se ha empezado ninguna prueba.'
    },
    unauthorized: ({ attempt, durable }) =>
      `La tienda tiene que renovar su acceso. ${durable ? 'Tu prueba se conserva' : 'Tu prueba espera aquí'}${attempt?.jobId ? '; empezar otra puede costar otra prueba' : ''}.`,
    final: ({ problem }) => (problem?.kind === 'picture' ? 'Tu prueba está terminada.' : 'Tu imagen está lista.'),
    failed: 'No se ha podido hacer la imagen. Quizá otra foto funcione mejor.',
    outcomeUnknown: 'Puede que tu prueba ya esté en marcha; volver a intentarlo puede costar otra prueba.',
    limitReached: 'Has llegado al número de pruebas por ahora.',
    rejected: 'No se ha empezado nada ni se ha contado nada.',
    protocolError: (view) =>
      `${isJobUnknown(view) ? 'El probador ya no la tiene.' : 'Hemos preferido parar antes que adivinar.'} ${nothingSent(view) ? 'No se ha empezado ninguna prueba.' : 'Volver a intentarlo puede costar otra prueba.'}`,
  },
  intents: {
    start: 'Probármelo',
    submitEmail: 'Continuar',
    resume: 'Seguir',
    retry: 'Volver a intentarlo',
    startOver: 'Elegir otra foto',
    discard: 'Olvidar esta prueba',
  },
  intentsIn: {
    idle: { resume: 'Mirar otra vez' },
    preparing: { startOver: 'Cancelar' },
    submitting: { startOver: 'Cancelar' },
    needsEmail: { startOver: 'No, gracias' },
    processing: { startOver: 'Dejar esta' },
    preview: { startOver: 'Dejar esta' },
    stalled: {
      resume: ({ attempt, problem }) => {
        if (problem?.kind === 'core') return 'Volver a intentarlo'
        return attempt?.jobId ? 'Seguir esperando' : 'Enviarla ahora'
      },
      retry: 'Empezar otra',
    },
    unauthorized: { resume: 'Intentarlo ahora', retry: 'Empezar otra' },
    final: { retry: 'Gastar otra prueba' },
    outcomeUnknown: { retry: 'Empezar otra' },
    protocolError: { resume: 'Mirar otra vez', retry: 'Empezar otra' },
  },
  problems: {
    refused: ({ operation, status }) => {
      if (operation === 'registerCustomer') return 'Esta dirección no se ha aceptado. Compruébala.'
      if (operation === 'putPhoto' && status === 415) return photos.type
      return status === 404 ? 'Esta prenda aún no está en el probador.' : 'El probador no ha aceptado esta petición.'
    },
    key: noAccess,
    emailRequired: 'La tienda pide antes tu correo electrónico.',
    limitReached: 'Has llegado al número de pruebas por ahora.',
    throttled: 'Hay mucho movimiento.',
    unavailable: 'La conexión no funciona ahora mismo.',
    notSent: 'La conexión no funciona ahora mismo. No se ha empezado ninguna prueba.',
    outcomeUnknown: 'Nadie puede decir si tu prueba ha empezado.',
    protocol: 'El probador ha dado una respuesta que no se entiende.',
    interrupted: 'La página se cerró antes de la respuesta. Nadie puede decir si tu prueba ha empezado.',
    jobFailed: 'El probador no ha podido hacer una imagen con esta foto.',
    deadline: 'La imagen aún puede terminar.',
    photo: ({ reason }) => photos[reason],
    photoAdvice: ({ advice: about, message }) => message ?? `${advice[about]} Con otra foto saldrá una imagen mejor.`,
    input: ({ at }) => {
      if (at === 'baseUrl') return noAccess
      if (at === 'consent.notice') return 'Acepte primero lo que se indica sobre su foto.'
      return at.toLowerCase().includes('email') ? 'Comprueba el correo electrónico.' : 'Comprueba lo que has escrito.'
    },
    deviceLimit: ({ limit }) =>
      limit === 'perShopper'
        ? 'Ya has hecho todas las pruebas que esta pantalla ofrece a cada persona.'
        : 'Aquí ha habido muchas pruebas. Vuelve un poco más tarde.',
    ticket: ({ reason }) =>
      ({
        noJob: 'Todavía no hay nada que llevarse.',
        broken: 'Este código no está completo. Escanéalo otra vez, por favor.',
        foreign: 'Este código es de otra tienda.',
        old: 'Este código es demasiado antiguo.',
        repeated: 'Ya tienes aquí esta prueba.',
      })[reason],
    picture: ({ reason }) =>
      ({
        none: 'Todavía no hay ninguna imagen.',
        gone: 'Esta imagen ya no se conserva.',
        unreadable: 'No se ha podido cargar esta imagen. Vuelve a intentarlo.',
      })[reason],
    storage: 'Este navegador no ha podido guardarlo o borrarlo.',
    storageUnreadable: 'Este navegador no nos deja ver si ya te lo estabas probando.',
    recordUnreadable: 'No se ha podido leer una prueba anterior de esta prenda. Sigue como estaba.',
    consentExpired: 'Ha tardado demasiado, así que hemos parado antes de empezar una prueba.',
    notAllowed: 'Ahora mismo no es posible. Mira lo que se muestra ahora.',
    paidJob: 'Puede que tu prueba esté en marcha, y olvidarla no la anula.',
    stopped: ({ reason }) =>
      reason === 'unanswered'
        ? 'Otra página abierta de esta tienda no ha respondido. Ciérrala, o sigue allí.'
        : 'Esta prueba se ha terminado aquí.',
    core: ({ reload }) =>
      reload
        ? 'No se ha podido cargar una parte de esta página. Inténtalo otra vez o vuelve a cargar la página.'
        : 'No se ha podido cargar una parte de esta página. Inténtalo de nuevo.',
    internal: ({ sent }) =>
      sent
        ? 'Algo se ha roto. Puede que tu prueba esté en marcha; volver a intentarlo puede costar otra prueba.'
        : 'Algo se ha roto. No se ha empezado ninguna prueba.',
  },
  troubles: {
    offline: 'No tienes conexión. Seguirá cuando vuelvas.',
    unavailable: 'El probador no responde. Seguirá solo.',
    throttled: 'Hay mucho movimiento. Seguirá solo.',
  },
  progress: {
    upload: (percent) => `${percent} de tu foto subido`,
    generation: (percent) => `Hecho más o menos el ${percent}`,
  },
  estimate: (seconds) => `Unos ${seconds} segundos en total`,
  nextTry: (time) => `Próximo intento a las ${time}.`,
  despiteAdvice: 'Usarla de todos modos',
  notDurable: 'Este navegador no puede guardar tu prueba, así que deja esta página abierta.',
  metadataKept: 'Tu foto se ha enviado tal cual. Puede decir dónde y cuándo se hizo.',
}
