import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Flow, Hop } from '@int/codec';
import { compileRules, type RuleSet, type RulesSpec } from '@int/detect';

/** Register cells that are not 0, by register and index. */
export type Cells = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A case of the golden vectors beside the P4 programs. */
export interface VectorCase {
  readonly name: string;
  readonly rules: readonly {
    readonly name: string;
    readonly priority: number;
    readonly match: 'any' | Readonly<Record<string, string | number>>;
    readonly detector: { readonly kind: string };
    readonly sample?: Readonly<Record<string, number>>;
  }[];
  readonly default: 'report' | 'drop';
  readonly before?: Cells;
  readonly flows: readonly Flow[];
  readonly reports: readonly {
    readonly flow: number;
    readonly ethernet?: { readonly source: string; readonly destination: string };
    readonly hops: readonly Hop[];
  }[];
  readonly events: readonly {
    readonly report: number;
    /** Absent for what the default lets through. */
    readonly rule?: string;
    readonly detector: string;
    readonly hop?: number;
    readonly nodeId?: number;
    readonly value?: number;
    readonly previous?: number;
    readonly threshold?: number;
  }[];
  readonly after: Cells;
}

const FOLDER = fileURLToPath(new URL('../../../p4/vectors/', import.meta.url));

/** Names of all files, without their ending. */
export function vectorFiles(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length));
}

export function vectorCases(file: string): readonly VectorCase[] {
  const { cases } = JSON.parse(readFileSync(`${FOLDER}${file}.json`, 'utf8')) as {
    readonly cases: readonly VectorCase[];
  };
  return cases;
}

/** The rules of a case, those of expressions as a complex rule of some expression. */
export function rulesOf({ rules, default: otherwise }: VectorCase): RuleSet {
  const spec = {
    version: 1,
    default: otherwise,
    rules: rules.map(({ name, priority, match, detector: { kind, ...parameters }, sample }) => ({
      name,
      priority,
      match:
        match === 'any'
          ? match
          : Object.fromEntries(
              // The files write the prefix of no bits of IPv6 without its first colon.
              Object.entries(match).map(([key, value]) => [key, value === ':/0' ? '::/0' : value]),
            ),
      detect: kind === 'complex' ? { complex: 'count() > 0' } : { [kind]: parameters },
      ...(sample === undefined ? {} : { sample: sampleOf(sample) }),
    })),
  };
  return compileRules(spec as unknown as RulesSpec);
}

function sampleOf(sample: Readonly<Record<string, number>>): Readonly<Record<string, number | string>> {
  return sample.everyNs === undefined ? sample : { every: `${sample.everyNs}ns` };
}
