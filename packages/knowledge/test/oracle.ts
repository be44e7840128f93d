import highs from 'highs';
import { CAPACITY_BPS, ELEPHANT_BPS, LEAVES, type MixedFlow, pathsOf } from './mixed-traffic.js';

const UNIT_BPS = 1e9;

/** The lowest highest load that there is, by another's solver. */
export class Oracle {
  readonly #solver: Awaited<ReturnType<typeof highs>>;

  private constructor(solver: Awaited<ReturnType<typeof highs>>) {
    this.#solver = solver;
  }

  static async open(): Promise<Oracle> {
    return new Oracle(await highs());
  }

  /**
   * @param isMixed elephants take one path each, and all other flows may be divided; otherwise all flows may
   * @returns a load that cannot be undercut, and one that can be reached: equal where the solver has proved it
   */
  optimum(flows: readonly MixedFlow[], isMixed: boolean): { readonly bound: number; readonly reached: number } {
    const byLink = new Map<string, string[]>();
    const rows: string[] = [];
    const binary: string[] = [];
    const route = (name: string, bps: number, from: number, to: number, isWhole: boolean): void => {
      const names = pathsOf(from, to).map((path, spine) => {
        const variable = `${name}_${spine}`;
        const term = isWhole ? `${bps / UNIT_BPS} ${variable}` : variable;
        for (const link of path) byLink.set(link, [...(byLink.get(link) ?? []), term]);
        if (isWhole) binary.push(variable);
        return variable;
      });
      rows.push(` ${name}: ${names.join(' + ')} = ${isWhole ? 1 : bps / UNIT_BPS}`);
    };
    const divisible = new Array<number>(LEAVES * LEAVES).fill(0);
    for (const [index, { bps, from, to }] of flows.entries()) {
      if (isMixed && bps >= ELEPHANT_BPS) route(`e${index}`, bps, from, to, true);
      else divisible[from * LEAVES + to]! += bps;
    }
    for (const [pair, bps] of divisible.entries()) {
      if (bps > 0) route(`d${pair}`, bps, Math.floor(pair / LEAVES), pair % LEAVES, false);
    }
    const links = [...byLink.values()].map(
      (terms, l) => ` c${l}: ${terms.join(' + ')} - ${CAPACITY_BPS / UNIT_BPS} U <= 0`,
    );
    const integers = binary.length === 0 ? '' : `\nBinary\n ${binary.join(' ')}`;
    const problem = `Minimize\n obj: U\nSubject To\n${rows.join('\n')}\n${links.join('\n')}${integers}\nEnd`;
    const gap = 0.005;
    const { ObjectiveValue, Status } = this.#solver.solve(problem, binary.length === 0 ? {} : { mip_rel_gap: gap });
    if (Status !== 'Optimal') throw new Error(`the solver says ${Status}`);
    return { bound: binary.length === 0 ? ObjectiveValue : (1 - gap) * ObjectiveValue, reached: ObjectiveValue };
  }
}
