import { computed, signal } from '@preact/signals';

/** The views, in the order of their keys 1 to 9. */
export const VIEWS = [
  'now',
  'topology',
  'series',
  'table',
  'events',
  'rules',
  'history',
  'incidents',
  'control',
] as const;
export type View = (typeof VIEWS)[number];

/** What the page shows. The address holds all of it. */
export interface Place {
  readonly view: View;
  /** What is opened in the view: the id of an event, an incident or a proposal. */
  readonly item: string | null;
  readonly filter: string;
  /** The time that all parts show, in milliseconds; `null`: as it is now. */
  readonly at: number | null;
  /** Seconds that charts show. */
  readonly span: number;
  /** The replay that is shown instead of the network. */
  readonly replay: string | null;
  /** What single views keep. */
  readonly rest: Readonly<Record<string, string>>;
}

const DEFAULT_SPAN = 60;
export const SPANS = [10, 30, 60, 120, 300, 600] as const;
const LONGEST_SPAN = 30 * 86_400;

/** Characters that a fragment may hold as they are; with them one can read a filter in the address. */
const READABLE: Readonly<Record<string, string>> = {
  '%3D': '=',
  '%3A': ':',
  '%2F': '/',
  '%2C': ',',
  '%3E': '>',
  '%3C': '<',
  '%40': '@',
  '%20': '+',
};

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/%(?:3D|3A|2F|2C|3E|3C|40|20)/g, (code) => READABLE[code]!);

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

/** The place that a fragment names; what it does not say is as at the start. Any text is some place. */
function placeOf(fragment: string): Place {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [name = '', ...items] = path.split('/');
  const rest: Record<string, string> = {};
  for (const part of query.split('&')) {
    const at = part.indexOf('=');
    if (at > 0) rest[decode(part.slice(0, at))] = decode(part.slice(at + 1));
  }
  const { filter = '', at = '', span = '', replay, ...others } = rest;
  const seconds = Number(span);
  const time = Date.parse(at);
  return {
    view: VIEWS.find((view) => view === name) ?? 'now',
    item: items.length > 0 && items[0] !== '' ? decode(items.join('/')) : null,
    filter,
    at: Number.isNaN(time) ? null : time,
    span: seconds >= 1 && seconds <= LONGEST_SPAN ? seconds : DEFAULT_SPAN,
    replay: replay ?? null,
    rest: others,
  };
}

/** The fragment that names a place. */
function fragmentOf({ view, item, filter, at, span, replay, rest }: Place): string {
  const parts: [string, string][] = [];
  if (filter !== '') parts.push(['filter', filter]);
  if (at !== null) parts.push(['at', new Date(at).toISOString()]);
  if (span !== DEFAULT_SPAN) parts.push(['span', String(span)]);
  if (replay !== null) parts.push(['replay', replay]);
  parts.push(...Object.entries(rest).filter(([, value]) => value !== ''));
  const query = parts.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  return `#/${view}${item === null ? '' : `/${encode(item)}`}${query === '' ? '' : `?${query}`}`;
}

const place = signal<Place>(placeOf(location.hash));
addEventListener('hashchange', () => {
  place.value = placeOf(location.hash);
});

export const view = computed(() => place.value.view);
export const item = computed(() => place.value.item);
export const filter = computed(() => place.value.filter);
export const at = computed(() => place.value.at);
export const span = computed(() => place.value.span);
export const replay = computed(() => place.value.replay);

/** A value that one view keeps in the address. */
export const kept = (name: string): string => place.value.rest[name] ?? '';

/** The address of a place that differs from the current one. What another view keeps is left out. */
export function addressOf(change: Partial<Place>): string {
  return fragmentOf(changed(change));
}

function changed(change: Partial<Place>): Place {
  const now = place.value;
  const isOther = change.view !== undefined && change.view !== now.view;
  return { ...now, ...(isOther ? { item: null, rest: {} } : {}), ...change };
}

/** Goes there. @param replace without a step for the browser's Back */
export function go(change: Partial<Place>, replace = false): void {
  const next = changed(change);
  const fragment = fragmentOf(next);
  if (fragment === fragmentOf(place.value)) return;
  if (replace) history.replaceState(null, '', fragment);
  else history.pushState(null, '', fragment);
  place.value = next;
}

/** Keeps values of the current view in the address. */
export function keep(values: Readonly<Record<string, string>>, replace = true): void {
  go({ rest: { ...place.value.rest, ...values } }, replace);
}
