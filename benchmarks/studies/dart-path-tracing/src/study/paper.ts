/** The figures of the paper, measured: success by load, success by age, wrong answers by memory; and its headline. */
import { simulate } from '@int/dart';

/** Loads of the first figure, keys per slot. */
const LOADS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1, 1.5, 2, 3] as const;
export const FIGURE_COPIES = [1, 2, 4, 8] as const;
const MEMORIES = [30, 60, 120, 300] as const;
const AGE_RANGES = 20;

export interface LoadPoint {
  readonly load: number;
  readonly copies: number;
  readonly success: number;
  readonly theory: number;
}

export interface AgeCurve {
  readonly bytesPerFlow: number;
  readonly copies: number;
  readonly keys: number;
  readonly success: number;
  readonly theory: number;
  readonly wrong: number;
  readonly wrongTheory: number;
  readonly oldest: { readonly success: number; readonly theory: number };
  readonly ages: readonly { readonly age: number; readonly success: number; readonly theory: number }[];
  readonly seconds: number;
  /** Memory of the simulation's slots, and of the slots that it stands for. */
  readonly simulationBytes: number;
  readonly storeBytes: number;
}

export interface WrongPoint {
  readonly checksumBits: number;
  readonly bytesPerFlow: number;
  readonly keys: number;
  /** Wrong answers, counted. */
  readonly answers: number;
  readonly wrong: number;
  readonly theory: number;
}

export interface PaperFigures {
  readonly byLoad: { readonly keys: number; readonly points: readonly LoadPoint[] };
  readonly byAge: readonly AgeCurve[];
  readonly wrong: readonly WrongPoint[];
}

type Say = (text: string) => void;

function measureLoads(keys: number, say: Say): LoadPoint[] {
  const points: LoadPoint[] = [];
  for (const copies of FIGURE_COPIES) {
    for (const load of LOADS) {
      const { success, theory } = simulate({ keys, slots: Math.round(keys / load), copies, seed: 3 });
      points.push({ load, copies, success, theory: theory.success });
    }
    say(`success by load, N = ${copies}: done`);
  }
  return points;
}

function measureAges(keys: number, say: Say): AgeCurve[] {
  const curves = [...MEMORIES.map((bytesPerFlow) => ({ bytesPerFlow, copies: 2 })), { bytesPerFlow: 300, copies: 4 }];
  return curves.map(({ bytesPerFlow, copies }) => {
    const begun = performance.now();
    const found = simulate({ keys, bytesPerFlow, copies, seed: 4, ageRanges: AGE_RANGES });
    const seconds = (performance.now() - begun) / 1000;
    say(`${bytesPerFlow} B/flow, N = ${copies}, ${keys} keys: ${seconds.toFixed(1)} s`);
    const { success, wrong, theory, oldest, slots, bytes } = found;
    return {
      bytesPerFlow,
      copies,
      keys,
      success,
      theory: theory.success,
      wrong,
      wrongTheory: theory.wrong,
      oldest: { success: oldest.success, theory: oldest.theory },
      ages: found.ages.map((range) => ({
        age: (range.from + range.to) / 2,
        success: range.success,
        theory: range.theory,
      })),
      seconds,
      simulationBytes: slots * 4,
      storeBytes: bytes,
    };
  });
}

function measureWrong(keys: number, byAge: readonly AgeCurve[], say: Say): WrongPoint[] {
  const points: WrongPoint[] = [];
  for (const checksumBits of [8, 16] as const) {
    // With 8 bits a tenth of the keys has errors enough.
    const count = checksumBits === 8 ? Math.ceil(keys / 10) : keys;
    for (const bytesPerFlow of MEMORIES) {
      const { wrong, theory } = simulate({ keys: count, bytesPerFlow, copies: 2, checksumBits, seed: 5 });
      const answers = Math.round(wrong * count);
      points.push({ checksumBits, bytesPerFlow, keys: count, answers, wrong, theory: theory.wrong });
    }
    say(`wrong answers, b = ${checksumBits}: done`);
  }
  for (const { bytesPerFlow, copies, wrong, wrongTheory, keys: count } of byAge) {
    if (copies !== 2) continue;
    const answers = Math.round(wrong * count);
    points.push({ checksumBits: 32, bytesPerFlow, keys: count, answers, wrong, theory: wrongTheory });
  }
  return points;
}

/** @param keys of the figures by age and of wrong answers; a tenth of it at each point of the figure by load */
export function measurePaper(keys: number, say: Say): PaperFigures {
  const loadKeys = Math.ceil(keys / 10);
  const points = measureLoads(loadKeys, say);
  const byAge = measureAges(keys, say);
  return { byLoad: { keys: loadKeys, points }, byAge, wrong: measureWrong(keys, byAge, say) };
}
