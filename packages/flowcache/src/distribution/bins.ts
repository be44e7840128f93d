/** How the values of a metric are put into bins. */
import { checkedInteger, DistributionError } from './errors.js';

/** Bins of equal width: bin k holds `from + k * width` up to, and without, `from + (k + 1) * width`. */
export interface LinearBins {
  readonly kind: 'linear';
  /** Least value of the first bin. Default 0. */
  readonly from?: number;
  /** At least 1. */
  readonly width: number;
  /** 1 to 65536. */
  readonly count: number;
}

/**
 * Bins whose width grows with the value (log-linear). Each octave, from a power of two to the next, has `perOctave`
 * bins of equal width; values below `2 * perOctave` have a bin each.
 *
 * A bin is at most `1 / perOctave` of its least value wide. `from` and `to` cut off the first and the last bin.
 */
export interface LogarithmicBins {
  readonly kind: 'logarithmic';
  /** Least value of the first bin. Default 0. */
  readonly from?: number;
  /** First value beyond the last bin, up to 2^32. Default 2^32. */
  readonly to?: number;
  /** A power of two, 1 to 4096. Default 16: bins no wider than 6.25 % of their values. */
  readonly perOctave?: number;
}

/** Bins between given edges: bin k holds `edges[k]` up to, and without, `edges[k + 1]`. */
export interface ExplicitBins {
  readonly kind: 'explicit';
  /** 2 to 65537 integers from 0 to 2^32, each larger than the one before. */
  readonly edges: readonly number[];
}

/** Bins of a metric. All numbers are integers in the metric's unit. Values outside the bins are counted apart. */
export type Bins = LinearBins | LogarithmicBins | ExplicitBins;

/** Kinds by number, as they are in memory; append, never reorder. */
const BIN_KINDS = ['linear', 'logarithmic', 'explicit'] as const satisfies Bins['kind'][];
export const BIN_KIND = { LINEAR: 0, LOGARITHMIC: 1, EXPLICIT: 2 } as const;

export const MAX_BINS = 65536;
const MAX_OCTAVE_BITS = 12;
const TWO_32 = 2 ** 32;

/** Bins, checked, and what follows from them. */
export interface ResolvedBins {
  /** With all defaults filled in. */
  readonly bins: Required<LinearBins> | Required<LogarithmicBins> | ExplicitBins;
  /** Index in {@link BIN_KINDS}. */
  readonly kind: number;
  /** Least value of the first bin. */
  readonly from: number;
  /** Largest value of the last bin. */
  readonly last: number;
  readonly count: number;
  /** Linear: the width. Logarithmic: log2 of the bins per octave. Explicit: 0. */
  readonly parameter: number;
}

/**
 * Index of a value among all logarithmic bins from 0 on, with 2^bits bins per octave.
 * @param x unsigned, 32 bits
 */
export function logarithmicIndex(x: number, bits: number): number {
  const shift = 31 - bits - Math.clz32(x | (1 << bits));
  return (shift << bits) + (x >>> shift);
}

/** The least value at an index, also at the index behind the last: the inverse of {@link logarithmicIndex}. */
export function logarithmicEdge(index: number, bits: number): number {
  const shift = (index >>> bits) - 1;
  return shift <= 0 ? index : (index - (shift << bits)) * 2 ** shift;
}

/** Edges of bins, one more than bins: the upper edge of each is the lower one of the next. */
export function edgesOf({ bins, kind, from, last, count, parameter }: ResolvedBins): number[] {
  if (bins.kind === 'explicit') return [...bins.edges];
  if (kind === BIN_KIND.LINEAR) return Array.from({ length: count + 1 }, (_, k) => from + k * parameter);
  const first = logarithmicIndex(from, parameter);
  const edges = Array.from({ length: count + 1 }, (_, k) => logarithmicEdge(first + k, parameter));
  edges[0] = from;
  edges[count] = last + 1;
  return edges;
}

function checked(name: string, field: string, value: unknown, least: number, most: number): void {
  checkedInteger('ERR_DISTRIBUTION_BINS', `bins of ${name}: ${field}`, value, least, most);
}

function resolveLinear(name: string, { from = 0, width, count }: LinearBins): ResolvedBins {
  checked(name, 'from', from, 0, TWO_32 - 1);
  checked(name, 'width', width, 1, TWO_32 - 1);
  checked(name, 'count', count, 1, MAX_BINS);
  const end = from + width * count;
  if (end > TWO_32)
    throw new DistributionError('ERR_DISTRIBUTION_BINS', `bins of ${name} end at ${end}, values at 2^32 - 1`);
  const bins = { kind: 'linear', from, width, count } as const;
  return { bins, kind: BIN_KIND.LINEAR, from, last: end - 1, count, parameter: width };
}

function resolveLogarithmic(name: string, { from = 0, to = TWO_32, perOctave = 16 }: LogarithmicBins): ResolvedBins {
  checked(name, 'from', from, 0, TWO_32 - 1);
  checked(name, 'to', to, from + 1, TWO_32);
  checked(name, 'perOctave', perOctave, 1, 1 << MAX_OCTAVE_BITS);
  const bits = 31 - Math.clz32(perOctave);
  if (1 << bits !== perOctave) {
    throw new DistributionError(
      'ERR_DISTRIBUTION_BINS',
      `bins of ${name}: perOctave must be a power of two, not ${perOctave}`,
    );
  }
  const count = logarithmicIndex(to - 1, bits) - logarithmicIndex(from, bits) + 1;
  if (count > MAX_BINS)
    throw new DistributionError('ERR_DISTRIBUTION_BINS', `bins of ${name}: ${count}, at most ${MAX_BINS}`);
  const bins = { kind: 'logarithmic', from, to, perOctave } as const;
  return { bins, kind: BIN_KIND.LOGARITHMIC, from, last: to - 1, count, parameter: bits };
}

function resolveExplicit(name: string, { edges }: ExplicitBins): ResolvedBins {
  if (!Array.isArray(edges))
    throw new DistributionError('ERR_DISTRIBUTION_BINS', `bins of ${name}: edges must be an array`);
  checked(name, 'the number of edges', edges.length, 2, MAX_BINS + 1);
  for (let k = 0; k < edges.length; k++) {
    checked(name, `edge ${k}`, edges[k], k === 0 ? 0 : edges[k - 1] + 1, TWO_32);
  }
  const bins = { kind: 'explicit', edges: [...edges] } as const;
  const count = edges.length - 1;
  return { bins, kind: BIN_KIND.EXPLICIT, from: edges[0], last: edges[count] - 1, count, parameter: 0 };
}

/**
 * Checks bins and fills in defaults.
 * @param name what the bins are of, for messages
 * @throws DistributionError `ERR_DISTRIBUTION_BINS`
 */
export function resolveBins(name: string, bins: Bins): ResolvedBins {
  switch (bins?.kind) {
    case 'linear':
      return resolveLinear(name, bins);
    case 'logarithmic':
      return resolveLogarithmic(name, bins);
    case 'explicit':
      return resolveExplicit(name, bins);
    default: {
      const kind = String((bins as { kind?: unknown } | undefined)?.kind);
      throw new DistributionError(
        'ERR_DISTRIBUTION_BINS',
        `bins of ${name}: kind must be one of ${BIN_KINDS.join(', ')}, not ${kind}`,
      );
    }
  }
}
