import { isJobUnknown, nothingSent } from './protocol-error.ts'
import type { Texts } from './words.ts'

const photos = {
  missing: 'Bitte wählen Sie Ihr Foto noch einmal aus.',
  empty: 'Diese Datei ist leer. Bitte wählen Sie ein anderes Foto.',
  type: 'Diese Datei ist kein Foto, das sich verwenden lässt. JPEG, PNG, WebP, HEIC und AVIF gehen.',
  unreadable: 'Diese Datei ließ sich nicht lesen. Bitte wählen Sie ein anderes Foto.',
  url: 'Dieses Foto hat keine brauchbare Adresse.',
  unprepared:
    'Ein Teil dieser Seite ließ sich nicht laden, Ihr Foto wurde deshalb nicht gesendet. Bitte versuchen Sie es noch einmal.',
  camera: 'Die Kamera lässt sich nicht verwenden. Bitte wählen Sie stattdessen ein Foto aus.',
} as const

const advice = {
  small: 'Dieses Foto ist sehr klein.',
  narrow: 'Dieses Foto ist ein sehr schmaler Streifen.',
  dark: 'Dieses Foto ist fast schwarz.',
  own: 'Dieses Foto ergibt vielleicht kein gutes Bild.',
} as const

const noAccess = 'Der Laden hat gerade keinen Zugang zur Umkleide.'

/** German. */
export const de: Texts = {
  language: 'de',
  titles: {
    restoring: 'Einen Moment…',
    idle: 'Sehen Sie es an sich',
    preparing: 'Ihr Foto wird vorbereitet',
    submitting: 'Ab in die Umkleide',
    needsEmail: 'Eines noch vorweg',
    processing: 'Ihre Anprobe entsteht',
    preview: 'Gleich fertig',
    stalled: ({ problem }) =>
      problem?.kind === 'core' ? 'Die Umkleide wurde nicht geladen' : 'Das dauert länger als sonst',
    unauthorized: 'Die Umkleide ist gerade geschlossen',
    final: 'Da sind Sie',
    failed: 'Das hat nicht geklappt',
    outcomeUnknown: 'Wir haben keine klare Antwort bekommen',
    limitReached: 'Das war’s für jetzt',
    rejected: 'Diese Anprobe ließ sich nicht beginnen',
    protocolError: (view) =>
      isJobUnknown(view) ? 'Diese Anprobe ist nicht mehr bekannt' : 'Die Antwort war nicht zu verstehen',
  },
  sentences: {
    restoring: 'Wir sehen nach, ob Sie das schon anprobieren.',
    idle: 'Geben Sie ein Foto von sich dazu, mit Blick in die Kamera. Es sollte zeigen, wo dies getragen wird.',
    preparing: 'Ihr Foto ist unterwegs.',
    submitting: 'Bitte lassen Sie diese Seite noch einen Moment offen.',
    needsEmail: 'Der Laden bittet vor der nächsten Anprobe um Ihre E-Mail-Adresse.',
    processing: ({ durable }) =>
      `Das dauert meist keine Minute.${durable ? ' Sie können die Seite verlassen: Es geht weiter.' : ''}`,
    preview: 'Das ist ein erster Blick. Das fertige Bild ist unterwegs.',
    stalled: ({ attempt, problem }) => {
      if (problem?.kind === 'core') return 'Es wurde nichts Neues abgeschickt.'
      return attempt?.jobId
        ? 'Ihre Anprobe kann noch fertig werden. Weiter zu warten kostet nichts; eine neue kann eine weitere Anprobe kosten.'
        : 'Bisher wurde keine Anprobe begonnen.'
    },
    unauthorized: ({ attempt, durable }) =>
      `Der Laden muss seinen Zugang erneuern. ${durable ? 'Ihre Anprobe bleibt erhalten' : 'Ihre Anprobe wartet hier'}${attempt?.jobId ? '; eine neue kann eine weitere Anprobe kosten' : ''}.`,
    final: ({ problem }) => (problem?.kind === 'picture' ? 'Ihre Anprobe ist fertig.' : 'Ihr Bild ist fertig.'),
    failed: 'Aus diesem Foto ließ sich kein Bild machen. Vielleicht gelingt es mit einem anderen.',
    outcomeUnknown: 'Ihre Anprobe läuft vielleicht schon; ein neuer Versuch kann eine weitere Anprobe kosten.',
    limitReached: 'Mehr Anproben sind im Moment nicht möglich.',
    rejected: 'Es wurde nichts begonnen und nichts gezählt.',
    protocolError: (view) =>
      `${isJobUnknown(view) ? 'Die Umkleide hat sie nicht mehr.' : 'Wir haben lieber aufgehört als geraten.'} ${nothingSent(view) ? 'Es wurde keine Anprobe begonnen.' : 'Ein neuer Versuch kann eine weitere Anprobe kosten.'}`,
  },
  intents: {
    start: 'Anprobieren',
    submitEmail: 'Weiter',
    resume: 'Weitermachen',
    retry: 'Noch einmal versuchen',
    startOver: 'Anderes Foto wählen',
    discard: 'Diese Anprobe vergessen',
  },
  intentsIn: {
    idle: { resume: 'Noch einmal nachsehen' },
    preparing: { startOver: 'Abbrechen' },
    submitting: { startOver: 'Abbrechen' },
    needsEmail: { startOver: 'Nein, danke' },
    processing: { startOver: 'Anprobe verlassen' },
    preview: { startOver: 'Anprobe verlassen' },
    stalled: {
      resume: ({ attempt, problem }) => {
        if (problem?.kind === 'core') return 'Noch einmal versuchen'
        return attempt?.jobId ? 'Weiter warten' : 'Jetzt abschicken'
      },
      retry: 'Neu beginnen',
    },
    unauthorized: { resume: 'Jetzt versuchen', retry: 'Neu beginnen' },
    final: { retry: 'Eine weitere Anprobe nutzen' },
    outcomeUnknown: { retry: 'Neu beginnen' },
    protocolError: { resume: 'Noch einmal nachsehen', retry: 'Neu beginnen' },
  },
  problems: {
    refused: ({ operation, status }) => {
      if (operation === 'registerCustomer') return 'Diese Adresse wurde nicht angenommen. Bitte prüfen Sie sie.'
      if (operation === 'putPhoto' && status === 415) return photos.type
      return status === 404
        ? 'Dieses Stück hängt noch nicht in der Umkleide.'
        : 'Die Umkleide hat diese Anfrage nicht angenommen.'
    },
    key: noAccess,
    emailRequired: 'Der Laden bittet zuerst um Ihre E-Mail-Adresse.',
    limitReached: 'Mehr Anproben sind im Moment nicht möglich.',
    throttled: 'Gerade ist viel los.',
    unavailable: 'Die Verbindung funktioniert gerade nicht.',
    notSent: 'Die Verbindung funktioniert gerade nicht. Es wurde keine Anprobe begonnen.',
    outcomeUnknown: 'Niemand kann sagen, ob Ihre Anprobe begonnen wurde.',
    protocol: 'Die Umkleide hat etwas geantwortet, das sich nicht verstehen ließ.',
    interrupted: 'Die Seite ging zu, bevor die Antwort da war. Niemand kann sagen, ob Ihre Anprobe begonnen wurde.',
    jobFailed: 'Aus diesem Foto konnte die Umkleide kein Bild machen.',
    deadline: 'Das Bild kann noch fertig werden.',
    photo: ({ reason }) => photos[reason],
    photoAdvice: ({ advice: about, message }) =>
      message ?? `${advice[about]} Ein anderes Foto ergibt ein besseres Bild.`,
    input: ({ at }) => {
      if (at === 'baseUrl') return noAccess
      if (at === 'consent.notice') return 'Bitte stimmen Sie zuerst dem Hinweis zu Ihrem Foto zu.'
      return at.toLowerCase().includes('email')
        ? 'Bitte prüfen Sie die E-Mail-Adresse.'
        : 'Bitte prüfen Sie Ihre Eingabe.'
    },
    deviceLimit: ({ limit }) =>
      limit === 'perShopper'
        ? 'Mehr Anproben gibt es an diesem Gerät für eine Person nicht.'
        : 'Hier wurde gerade viel anprobiert. Bitte kommen Sie etwas später wieder.',
    ticket: ({ reason }) =>
      ({
        noJob: 'Es gibt noch nichts zum Mitnehmen.',
        broken: 'Dieser Code ist nicht vollständig. Bitte scannen Sie ihn noch einmal.',
        foreign: 'Dieser Code gehört zu einem anderen Geschäft.',
        old: 'Dieser Code ist zu alt.',
        repeated: 'Diese Anprobe haben Sie hier schon.',
      })[reason],
    picture: ({ reason }) =>
      ({
        none: 'Es gibt noch kein Bild.',
        gone: 'Dieses Bild wird nicht mehr aufbewahrt.',
        unreadable: 'Dieses Bild ließ sich nicht laden. Bitte versuchen Sie es noch einmal.',
      })[reason],
    storage: 'Dieser Browser konnte das nicht speichern oder löschen.',
    storageUnreadable: 'Dieser Browser lässt uns nicht nachsehen, ob Sie das schon anprobieren.',
    recordUnreadable: 'Eine ältere Anprobe dieses Stücks ließ sich nicht lesen. Sie blieb, wie sie ist.',
    consentExpired: 'Es hat zu lange gedauert, deshalb haben wir aufgehört, bevor eine Anprobe begonnen wurde.',
    notAllowed: 'Das geht gerade nicht. Bitte sehen Sie, was inzwischen hier steht.',
    paidJob: 'Ihre Anprobe läuft vielleicht schon. Wer sie vergisst, nimmt sie nicht zurück.',
    stopped: ({ reason }) =>
      reason === 'unanswered'
        ? 'Eine andere offene Seite dieses Ladens hat nicht geantwortet. Bitte schließen Sie sie, oder machen Sie dort weiter.'
        : 'Diese Anprobe wurde hier beendet.',
    core: ({ reload }) =>
      reload
        ? 'Ein Teil dieser Seite konnte nicht geladen werden. Bitte versuchen Sie es noch einmal, oder laden Sie die Seite neu.'
        : 'Ein Teil dieser Seite konnte nicht geladen werden. Bitte versuchen Sie es noch einmal.',
    internal: ({ sent }) =>
      sent
        ? 'Etwas ist kaputtgegangen. Ihre Anprobe läuft vielleicht schon; ein neuer Versuch kann eine weitere kosten.'
        : 'Etwas ist kaputtgegangen. Es wurde keine Anprobe begonnen.',
  },
  troubles: {
    offline: 'Sie sind offline. Es geht weiter, sobald Sie zurück sind.',
    unavailable: 'Die Umkleide antwortet nicht. Es geht von selbst weiter.',
    throttled: 'Gerade ist viel los. Es geht von selbst weiter.',
  },
  progress: {
    upload: (percent) => `${percent} Ihres Fotos sind hochgeladen`,
    generation: (percent) => `Etwa ${percent} geschafft`,
  },
  estimate: (seconds) => `Insgesamt etwa ${seconds} Sekunden`,
  nextTry: (time) => `Nächster Versuch um ${time}.`,
  despiteAdvice: 'Trotzdem verwenden',
  notDurable: 'Dieser Browser kann Ihre Anprobe nicht speichern. Bitte lassen Sie diese Seite offen.',
  metadataKept: 'Ihr Foto wurde so gesendet, wie es ist. Es kann verraten, wo und wann es aufgenommen wurde.',
}
