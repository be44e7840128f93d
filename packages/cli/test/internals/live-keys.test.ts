import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Controls,
  type Extents,
  FIRST_CONTROLS,
  type Key,
  PANELS,
  press,
  SORTS,
} from '../../src/live/controls.js';
import { KeyReader } from '../../src/live/key-reader.js';
import { liveView } from '../../src/live/live-view.js';
import { widthOf } from '../../src/live/text-width.js';
import { colours } from '../../src/output/colour.js';
import { SEED } from '../seed.js';
import { congested, detection, state, switches } from './live-states.js';

const EXTENTS: Extents = {
  switches: { total: 30, shown: 10, most: 20 },
  events: { total: 5, shown: 2, most: 3 },
  queues: { total: 0, shown: 0, most: 0 },
  help: { total: 24, shown: 20, most: 4 },
};

/** The state after what a terminal sends; `null`: the user left. */
function after(typed: string, from: Controls = FIRST_CONTROLS): Controls | null {
  let controls: Controls | null = from;
  for (const key of new KeyReader().read(typed)) {
    if (controls === null) return null;
    if (typeof key !== 'string') controls = press(controls, key, EXTENTS);
  }
  return controls;
}

describe('keys', () => {
  test.each([
    ['\x1b[B', 1],
    ['\x1bOB\x1bOB', 2],
    ['\x1b[B\x1b[A\x1b[A', 0],
    ['\x1b[6~', 9],
    ['\x1b[6~\x1b[6~\x1b[6~', 20],
    ['\x1b[6~\x1b[5~', 0],
    ['\x1b[F', 20],
    ['\x1b[F\x1b[H', 0],
    ['\x1b[4~\x1b[A', 19],
  ])('%j scroll the chosen part, not beyond its end', (typed, scroll) => {
    expect(after(typed)!.scroll.switches).toBe(scroll);
  });

  test('Tab goes round the parts that there are, Shift-Tab back', () => {
    expect(['\t', '\t\t', '\t\t\t', '\x1b[Z'].map((typed) => after(typed)!.panel)).toEqual([
      'events',
      'queues',
      'switches',
      'queues',
    ]);
    expect(after('\t\x1b[B')!.scroll).toMatchObject({ switches: 0, events: 1 });
  });

  test('s, p, ? and h do what they say', () => {
    expect(SORTS.map((_, times) => after('s'.repeat(times + 1))!.sort)).toEqual([...SORTS.slice(1), SORTS[0]]);
    expect(after('p')).toMatchObject({ isPaused: true });
    expect(after('pp')).toMatchObject({ isPaused: false });
    for (const key of ['?', 'h']) expect(after(key)).toMatchObject({ isHelp: true });
    expect(after('?\x1b[F')!.scroll).toMatchObject({ help: 4, switches: 0 });
    expect(after('h\x1b')).toMatchObject({ isHelp: false });
  });

  test('q leaves, but belongs to the filter while it is written', () => {
    expect(after('q')).toBeNull();
    expect(after('/q')).toMatchObject({ filter: 'q', isEditing: true });
    expect(after('/10.0\r')).toMatchObject({ filter: '10.0', isEditing: false });
    expect(after('/10.0\x7f\x7f1\rs')).toMatchObject({ filter: '101', sort: 'switch' });
    expect(after('/abc\x15d\n')).toMatchObject({ filter: 'd' });
    // A filter is written anew.
    expect(after('/abc\r/d\r')).toMatchObject({ filter: 'd', isEditing: false });
    expect(after('/abc\x1b')).toMatchObject({ filter: '', isEditing: false });
    expect(after('/abc\r\x1b')).toMatchObject({ filter: '' });
    expect(after(`/${'x'.repeat(100)}`)!.filter).toHaveLength(64);
  });

  test('may come in pieces, and unknown ones do nothing', () => {
    const reader = new KeyReader();
    expect(['\x1b[', 'A', '\x1b[1;5', 'C', '\x1b', '\x00é葉'].map((piece) => reader.read(piece))).toEqual([
      [],
      [{ name: 'up' }],
      [],
      [],
      [{ name: 'escape' }],
      [
        { name: 'character', text: 'é' },
        { name: 'character', text: '葉' },
      ],
    ]);
    expect(new KeyReader().read('\x03\x1a\x1c')).toEqual(['SIGINT', 'SIGTSTP', 'SIGQUIT']);
  });

  test('any keys at any size keep the view inside the terminal', () => {
    const named = (name: Exclude<Key['name'], 'character'>): Key => ({ name });
    const key = fc.oneof(
      fc
        .constantFrom(
          ...(['up', 'down', 'page-up', 'page-down', 'home', 'end', 'tab', 'back-tab'] as const),
          ...(['enter', 'escape', 'backspace', 'erase-line'] as const),
        )
        .map(named),
      fc.constantFrom(...'sp?h/10.rule葉').map((text): Key => ({ name: 'character', text })),
    );
    const shown = {
      ...state({ switches: switches(40), congested }),
      detection: detection(5, 40),
      recentEvents: new Map([[7_654_321, 2]]),
    };
    const size = fc.record({ columns: fc.integer({ min: 1, max: 310 }), rows: fc.integer({ min: 1, max: 100 }) });
    fc.assert(
      fc.property(fc.array(fc.tuple(key, size), { maxLength: 30 }), (steps) => {
        let controls = FIRST_CONTROLS;
        let extents: Extents = {};
        for (const [one, at] of steps) {
          controls = press(controls, one, extents) ?? FIRST_CONTROLS;
          const frame = liveView(shown, 'int collect', controls, at, true, colours(false));
          extents = frame.extents;
          expect(frame.lines.length).toBeLessThanOrEqual(at.rows);
          for (const line of frame.lines) expect(widthOf(line)).toBeLessThanOrEqual(at.columns);
          expect(PANELS).toContain(controls.panel);
          expect(Math.min(...Object.values(controls.scroll))).toBeGreaterThanOrEqual(0);
        }
      }),
      { seed: SEED, numRuns: 50 },
    );
  });
});
