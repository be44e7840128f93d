// @ts-check
// How far a run is.

/** Between two lines that say how far it is. */
const EVERY_S = 10;

/** @param {number} seconds */
export function duration(seconds) {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Counts what is done, and says once in a while how long the rest will take. */
export class Progress {
  /** @type {number} */
  #total;
  /** @type {string} */
  #what;
  /** @type {(text: string) => void} */
  #say;
  /** @type {() => number} */
  #clock;
  #began;
  #done = 0;
  #saidAt = 0;

  /**
   * @param {number} total how many there are
   * @param {string} what they are called
   * @param {(text: string) => void} [say]
   * @param {() => number} [clock] milliseconds
   */
  constructor(total, what, say = console.error, clock = () => performance.now()) {
    this.#total = total;
    this.#what = what;
    this.#say = say;
    this.#clock = clock;
    this.#began = clock();
  }

  /** Since the beginning. */
  get seconds() {
    return (this.#clock() - this.#began) / 1000;
  }

  /** One more is done. */
  step() {
    this.#done++;
    const { seconds } = this;
    if (seconds - this.#saidAt < EVERY_S && this.#done < this.#total) return;
    this.#saidAt = seconds;
    const left = (seconds / this.#done) * (this.#total - this.#done);
    this.#say(`${this.#done} of ${this.#total} ${this.#what}, ${duration(seconds)}, about ${duration(left)} left`);
  }
}
