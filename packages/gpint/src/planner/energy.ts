/** Weight of a unit of cost above the aim or below the floor; a visit weighs 1. */
const OVER = 2;
const UNDER = 0.2;
/** Weight of a squared unit of cost above the limit. It is large enough to exclude such costs. */
const WALL = 10;
/** Share of the mean cost over which the weight of a unit of cost rises to its full value. */
const BAND = 0.05;

/** The energy of a route in annealing: its visits, and the deviation of its cost. */
export class Energy {
  /** Cost that weighs one: the mean of the nodes' share. */
  readonly #scale: number;
  #isLevel = false;
  #aim = 0;
  #floor = 0;
  #band = 1;
  #dear = 1;
  /** Largest cost of a route while routes are levelled. */
  most = Number.POSITIVE_INFINITY;

  constructor(scale: number) {
    this.#scale = scale;
  }

  /** Costs above `aim` and below `floor` weigh in proportion. */
  pursue(aim: number, floor: number): void {
    this.#isLevel = false;
    this.#aim = aim;
    this.#floor = floor;
    this.most = Number.POSITIVE_INFINITY;
  }

  /**
   * Costs near and above `aim` weigh by their square, times `dear`, so that nodes move from routes far above it,
   * through routes slightly above it, to others. Costs above `most` are excluded. For networks without weights.
   */
  level(aim: number, most: number, dear: number): void {
    this.#isLevel = true;
    this.#aim = aim;
    this.most = most;
    this.#band = Math.max(1, BAND * aim);
    this.#dear = dear;
  }

  of(cost: number, visits: number): number {
    let energy = visits;
    if (this.#isLevel) {
      const above = cost - this.#aim + this.#band;
      if (above > 0) energy += (this.#dear * above * above) / (2 * this.#band);
      return cost > this.most ? energy + WALL * (cost - this.most) * (cost - this.most) : energy;
    }
    if (cost > this.#aim) energy += (OVER * (cost - this.#aim)) / this.#scale;
    if (cost < this.#floor) energy += (UNDER * (this.#floor - cost)) / this.#scale;
    return energy;
  }
}
