/** How sure the test is to be, and what it expects of the two kinds of hosts. */
export interface RandomWalkOptions {
  /** Share of first contacts of a harmless host that succeed. Default 0.8. */
  readonly benignSuccess?: number;
  /** Share of first contacts of a scanner that succeed. Default 0.2. */
  readonly scannerSuccess?: number;
  /** Share of harmless hosts that may be taken for scanners. Default 1e-5: nine failures in a row convict. */
  readonly falsePositives?: number;
  /** Share of scanners to be found. Default 0.99. */
  readonly detection?: number;
}

/**
 * Threshold Random Walk (Jung, Paxson, Berger, Balakrishnan: Fast Portscan Detection Using Sequential Hypothesis
 * Testing, IEEE S&P 2004). Each first contact of a source to a (host, port) multiplies the likelihood ratio L by
 * P(outcome | scanner) / P(outcome | harmless). L >= detection / falsePositives convicts;
 * L <= (1 - detection) / (1 - falsePositives) acquits, and the walk begins anew.
 */
export class RandomWalk {
  readonly benignSuccess: number;
  readonly scannerSuccess: number;
  /** ln L at which a source is convicted, and acquitted. */
  readonly convict: number;
  readonly acquit: number;
  /** What a success and a failure add to ln L. */
  readonly success: number;
  readonly failure: number;

  /** @throws RangeError unless 0 < scannerSuccess < benignSuccess < 1 and 0 < falsePositives < detection < 1 */
  constructor(options: RandomWalkOptions = {}) {
    const { benignSuccess = 0.8, scannerSuccess = 0.2, falsePositives = 1e-5, detection = 0.99 } = options;
    if (!(0 < scannerSuccess && scannerSuccess < benignSuccess && benignSuccess < 1)) {
      throw new RangeError('0 < scannerSuccess < benignSuccess < 1 does not hold');
    }
    if (!(0 < falsePositives && falsePositives < detection && detection < 1)) {
      throw new RangeError('0 < falsePositives < detection < 1 does not hold');
    }
    this.benignSuccess = benignSuccess;
    this.scannerSuccess = scannerSuccess;
    this.convict = Math.log(detection / falsePositives);
    this.acquit = Math.log((1 - detection) / (1 - falsePositives));
    this.success = Math.log(scannerSuccess / benignSuccess);
    this.failure = Math.log((1 - scannerSuccess) / (1 - benignSuccess));
  }

  /** Failures in a row that convict. */
  get failuresToConvict(): number {
    return Math.ceil(this.convict / this.failure);
  }

  /** Mean number of first contacts until a scanner is convicted, or acquitted by mistake (Wald's approximation). */
  get meanContacts(): number {
    const { convict, acquit, success, failure, scannerSuccess } = this;
    const detection = (1 - Math.exp(acquit)) / (1 - Math.exp(acquit - convict));
    const drift = scannerSuccess * success + (1 - scannerSuccess) * failure;
    return (detection * convict + (1 - detection) * acquit) / drift;
  }
}
