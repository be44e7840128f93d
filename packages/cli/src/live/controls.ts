/** What a user has chosen in the live view: a state, and what each key makes of it. */

/** The parts of the view, in the order of the Tab key. */
export const PANELS = ['switches', 'events', 'rules', 'queues', 'sinks'] as const;
export type PanelName = (typeof PANELS)[number];

/** Orders of the switches. All but `switch` put the largest value first. */
export const SORTS = ['trouble', 'switch', 'reports', 'latency', 'queue', 'util'] as const;
export type Sort = (typeof SORTS)[number];

/** A key: its name, or the character that it writes. */
export type Key =
  | { readonly name: 'up' | 'down' | 'page-up' | 'page-down' | 'home' | 'end' }
  | { readonly name: 'tab' | 'back-tab' | 'enter' | 'escape' | 'backspace' | 'erase-line' }
  | { readonly name: 'character'; readonly text: string };

export interface Controls {
  /** The part that the arrows scroll. It gets the room that it needs, up to half of the screen. */
  readonly panel: PanelName;
  /** Entries above the first one shown. */
  readonly scroll: Readonly<Record<PanelName | 'help', number>>;
  readonly sort: Sort;
  /** What entries must contain; '' shows all. */
  readonly filter: string;
  /** Whether keys write the filter. */
  readonly isEditing: boolean;
  readonly isPaused: boolean;
  /** Whether the keys are shown instead of the parts. */
  readonly isHelp: boolean;
}

/** How much of each part the screen shows. */
export interface Extent {
  /** Entries that there are. */
  readonly total: number;
  /** Entries that are seen. */
  readonly shown: number;
  /** Entries above the first one shown when the last one is seen. */
  readonly most: number;
}
export type Extents = Readonly<Partial<Record<PanelName | 'help', Extent>>>;

/** Longest filter, in characters. */
const MAX_FILTER = 64;

export const FIRST_CONTROLS: Controls = /* @__PURE__ */ Object.freeze({
  panel: 'switches',
  scroll: { switches: 0, events: 0, rules: 0, queues: 0, sinks: 0, help: 0 },
  sort: 'trouble',
  filter: '',
  isEditing: false,
  isPaused: false,
  isHelp: false,
});

/**
 * What a key does.
 * @param extents what the screen shows when the key is pressed
 * @returns the state after it; `null`: the user wants to leave
 */
export function press(controls: Controls, key: Key, extents: Extents): Controls | null {
  return controls.isEditing ? edit(controls, key) : command(controls, key, extents);
}

function edit(controls: Controls, key: Key): Controls {
  const { filter } = controls;
  const written = (text: string): Controls => ({
    ...controls,
    filter: text.slice(0, MAX_FILTER),
    scroll: FIRST_CONTROLS.scroll,
  });
  switch (key.name) {
    case 'character':
      return written(filter + key.text);
    case 'backspace':
      return written([...filter].slice(0, -1).join(''));
    case 'erase-line':
      return written('');
    case 'enter':
      return { ...controls, isEditing: false };
    case 'escape':
      return { ...written(''), isEditing: false };
    default:
      return controls;
  }
}

function command(controls: Controls, key: Key, extents: Extents): Controls | null {
  switch (key.name) {
    case 'character':
      return letter(controls, key.text);
    case 'escape':
      if (controls.isHelp) return { ...controls, isHelp: false };
      return { ...controls, filter: '', scroll: FIRST_CONTROLS.scroll };
    case 'tab':
      return { ...controls, panel: neighbour(controls.panel, 1, extents) };
    case 'back-tab':
      return { ...controls, panel: neighbour(controls.panel, -1, extents) };
    case 'enter':
    case 'backspace':
    case 'erase-line':
      return controls;
    default:
      return scrolled(controls, key.name, extents);
  }
}

function letter(controls: Controls, text: string): Controls | null {
  switch (text) {
    case 'q':
    case 'Q':
      return null;
    case 's':
      return {
        ...controls,
        sort: SORTS[(SORTS.indexOf(controls.sort) + 1) % SORTS.length]!,
        scroll: { ...controls.scroll, switches: 0 },
      };
    case 'p':
      return { ...controls, isPaused: !controls.isPaused };
    case '?':
    case 'h':
      return { ...controls, isHelp: !controls.isHelp, scroll: { ...controls.scroll, help: 0 } };
    case '/':
      return { ...controls, filter: '', isEditing: true, isHelp: false, scroll: FIRST_CONTROLS.scroll };
    default:
      return controls;
  }
}

/** The next part that there is. */
function neighbour(panel: PanelName, step: 1 | -1, extents: Extents): PanelName {
  const present = PANELS.filter((name) => name === panel || extents[name] !== undefined);
  const at = present.indexOf(panel);
  return present[(at + step + present.length) % present.length]!;
}

function scrolled(
  controls: Controls,
  key: 'up' | 'down' | 'page-up' | 'page-down' | 'home' | 'end',
  extents: Extents,
): Controls {
  const name = controls.isHelp ? 'help' : controls.panel;
  const extent = extents[name];
  const most = extent?.most ?? 0;
  const page = Math.max(1, (extent?.shown ?? 1) - 1);
  const now = Math.min(controls.scroll[name], most);
  const wanted = { up: now - 1, down: now + 1, 'page-up': now - page, 'page-down': now + page, home: 0, end: most }[
    key
  ];
  return { ...controls, scroll: { ...controls.scroll, [name]: Math.max(0, Math.min(most, wanted)) } };
}
