import type { Rehearsal } from './rehearsal.js';

/** A link whose load differs from what was predicted. */
export interface LinkDifference {
  /** `<switch id>:<port>`. */
  readonly link: string;
  readonly beforeBps: number;
  readonly predictedBps: number;
  readonly measuredBps: number;
}

/** What a change has done, beside what its rehearsal has said. */
export interface ComparedEffect {
  /**
   * `as-predicted`: no load differs by more than the tolerance. `partial`: the change shows, but not all of it. `none`: loads are
   * those of before, where others were predicted. `worse`: a link carries more than before and more than predicted, and less than half
   * of the predicted shift is seen. `other`: nothing was to change, and a link carries less than before.
   */
  readonly verdict: 'as-predicted' | 'partial' | 'none' | 'worse' | 'other';
  /** Links with another load than predicted, the largest difference first. */
  readonly differences: readonly LinkDifference[];
  /** Share of the predicted shift of bits that is seen, from below 0 (the opposite) to 1; `null`: none was predicted. */
  readonly achieved: number | null;
}

/**
 * Compares loads after a change with those that its rehearsal has predicted.
 *
 * @param measuredBps bits a second by link, as in the rehearsal; a link that is missing carries nothing
 * @param tolerance share of a load, above 0, by which it may differ; and so much of the largest load is no load at all
 * @throws RangeError for a tolerance that is not above 0
 */
export function compareEffect(
  { loads }: Pick<Rehearsal, 'loads'>,
  measuredBps: ReadonlyMap<string, number>,
  tolerance: number,
): ComparedEffect {
  if (!(tolerance > 0 && Number.isFinite(tolerance))) throw new RangeError(`a tolerance of ${tolerance}`);
  const links = [...new Set([...loads.keys(), ...measuredBps.keys()])].map((link): LinkDifference => {
    const { beforeBps = 0, afterBps = 0 } = loads.get(link) ?? {};
    return { link, beforeBps, predictedBps: afterBps, measuredBps: measuredBps.get(link) ?? 0 };
  });
  const largest = links.reduce((most, each) => Math.max(most, each.beforeBps, each.predictedBps, each.measuredBps), 0);
  const differs = (a: number, b: number): boolean => Math.abs(a - b) > tolerance * Math.max(a, b, tolerance * largest);
  const differences = links
    .filter(({ predictedBps, measuredBps: measured }) => differs(predictedBps, measured))
    .sort((a, b) => Math.abs(b.measuredBps - b.predictedBps) - Math.abs(a.measuredBps - a.predictedBps));

  // How far the loads have come on the way from those of before to those predicted: the projection on it.
  let [shift, come] = [0, 0];
  for (const { beforeBps, predictedBps, measuredBps: measured } of links) {
    if (!differs(beforeBps, predictedBps)) continue;
    shift += (predictedBps - beforeBps) ** 2;
    come += (predictedBps - beforeBps) * (measured - beforeBps);
  }
  const achieved = shift === 0 ? null : Math.min(1, come / shift);
  if (differences.length === 0) return { verdict: 'as-predicted', differences, achieved };
  const isWorse = differences.some(
    (each) =>
      each.measuredBps > each.predictedBps &&
      differs(each.measuredBps, each.beforeBps) &&
      each.measuredBps > each.beforeBps,
  );
  if (isWorse && (achieved === null || achieved < 0.5)) return { verdict: 'worse', differences, achieved };
  if (achieved === null) return { verdict: 'other', differences, achieved };
  return { verdict: achieved > tolerance ? 'partial' : 'none', differences, achieved };
}
