import { Entropy } from '../sketch/entropy.js';

/** Deviations of an entropy that count as up or down. */
const DEVIATIONS = 3;
/** Weight of the past in what is usual. */
const LAMBDA = 0.98;
/** Seconds until it is known. */
const LEARN = 30;
/** A deviation is at least so many bits. */
const LEAST_SPREAD = 0.1;

/** Packets of a second that tell its entropies; of more, one in so many is taken. */
const ENOUGH = 4096;

/** What the entropies of a second look like, beside what is usual. */
export type Signature = 'ddos' | 'port-scan' | 'network-scan' | 'flash-crowd' | null;

/** An entropy of the packets of a second, and what it usually is. */
class Feature {
  readonly #entropy = new Entropy();
  #seconds = 0;
  #mean = 0;
  #spread = 0;

  add(value: number): void {
    this.#entropy.add(value);
  }

  /** Ends a second. @returns how many deviations it is off; 0 while that is not known */
  close(learns: boolean): number {
    const bits = this.#entropy.bits;
    this.#entropy.clear();
    if (Number.isNaN(bits)) return 0;
    const off = bits - this.#mean;
    const z = this.#seconds < LEARN ? 0 : off / Math.max(LEAST_SPREAD, this.#spread);
    if (learns) {
      const weight = Math.max(1 - LAMBDA, 1 / (this.#seconds + 1));
      this.#mean += weight * off;
      this.#spread += weight * (1.25 * Math.abs(bits - this.#mean) - this.#spread);
      this.#seconds++;
    }
    return z;
  }
}

/**
 * The entropies of addresses and ports of all packets, by the second (Lakhina, Crovella, Diot: Mining Anomalies Using
 * Traffic Feature Distributions, SIGCOMM 2005). Which of them rise and fall together is a signature.
 */
export class TrafficSignature {
  readonly #sources = new Feature();
  readonly #destinations = new Feature();
  readonly #sourcePorts = new Feature();
  readonly #destinationPorts = new Feature();
  /** Packets of this second, and one in how many is taken. */
  #seen = 0;
  #stride = 1;
  /** Until the next one that is taken. */
  #left = 1;
  /** Of the last second. */
  signature: Signature = null;
  /** Of the last second, in deviations: source and destination addresses, destination ports. */
  readonly deviations = { sources: 0, destinations: 0, sourcePorts: 0, destinationPorts: 0 };

  add(source: number, destination: number, ports: number): void {
    this.#seen++;
    if (--this.#left > 0) return;
    this.#left = this.#stride;
    this.#sources.add(source);
    this.#destinations.add(destination);
    this.#sourcePorts.add(ports >>> 16);
    this.#destinationPorts.add(ports & 0xffff);
  }

  /** Ends a second. @param learns whether it counts as usual */
  close(learns: boolean): void {
    const { deviations } = this;
    this.#stride = Math.max(1, Math.floor(this.#seen / ENOUGH));
    this.#seen = 0;
    this.#left = 1;
    deviations.sources = this.#sources.close(learns);
    deviations.destinations = this.#destinations.close(learns);
    deviations.sourcePorts = this.#sourcePorts.close(learns);
    deviations.destinationPorts = this.#destinationPorts.close(learns);
    this.signature = signatureOf(deviations);
  }
}

function signatureOf(z: TrafficSignature['deviations']): Signature {
  const isUp = (value: number): boolean => value > DEVIATIONS;
  const isDown = (value: number): boolean => value < -DEVIATIONS;
  if (isUp(z.sources) && isDown(z.destinations)) return isDown(z.destinationPorts) ? 'flash-crowd' : 'ddos';
  if (isUp(z.destinationPorts) && isDown(z.destinations)) return 'port-scan';
  if (isUp(z.destinations) && isDown(z.destinationPorts)) return 'network-scan';
  return null;
}
