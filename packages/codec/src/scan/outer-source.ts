/** Who sent a frame: the source address of its outermost IP header. */
import type { LinkLayer } from '../options.js';
import { linkPayload } from './network.js';
import { settingsOf } from './settings.js';
import { Scan } from './state.js';

/**
 * Finds the source address of the outermost IP header of a frame, behind the tags and labels that the decoder steps
 * over. It reads nothing else, so also a frame that is cut behind its addresses has a sender.
 *
 * One object serves any number of frames, and allocates nothing per frame.
 */
export class OuterSource {
  readonly #scan = new Scan(settingsOf({}));
  /** First byte of the address that {@link find} found. */
  offset = 0;
  /** 4 or 16 bytes. */
  size = 0;

  /**
   * Looks for the address in `bytes[start, end)`.
   * @param link any but `report`, which has no IP header
   * @returns false if the frame has no IP header, or ends before its addresses do
   */
  find(bytes: Uint8Array, start: number, end: number, link: LinkLayer): boolean {
    if (link === 'report' || end > bytes.length) return false;
    const scan = this.#scan;
    scan.aim(bytes, start, end);
    const ip = linkPayload(scan, link, start, end);
    if (ip < 0) return false;
    const version = bytes[ip]! >>> 4;
    if (version === 4 && ip + 20 <= end) {
      this.offset = ip + 12;
      this.size = 4;
      return true;
    }
    if (version === 6 && ip + 40 <= end) {
      this.offset = ip + 8;
      this.size = 16;
      return true;
    }
    return false;
  }
}
