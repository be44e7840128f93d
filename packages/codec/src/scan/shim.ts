/**
 * INT over UDP and TCP: the shim, the 'new UDP header', the v0.5 tail, IntMon. Wire-format sections 3.1 to 3.4 and 10.
 */
import { CODES } from '../codes.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import { readPorts } from './network.js';
import { readHeader2016, readIntHeader } from './stack.js';
import { MARKING, type Scan } from './state.js';

const UDP = 1;
const TCP = 2;
const UDP_NEW = 3;
const TAIL_BYTES = 4;

/**
 * Reads the shim at `p` and the INT header behind it.
 * @param marking how INT was recognised (MARKING). The shim's NPT must fit it
 * @param l4 transport protocol in front of the shim
 */
export function readShim(scan: Scan, p: number, marking: number, l4: number, end: number): boolean {
  const { view } = scan;
  scan.clearInt();
  scan.marking = marking;
  scan.encapsulation = l4 === IP_PROTOCOL.TCP ? TCP : UDP;
  scan.shimOffset = p;
  if (p + 4 > end) return scan.fail(CODES.TRUNCATED, 'shim', Math.max(p, scan.start));
  const shim = view.getUint32(p);
  return shim >>> 28 === 0 ? shimBefore2(scan, shim, p, marking, l4, end) : shim2(scan, shim, p, marking, end);
}

function shim2(scan: Scan, shim: number, p: number, marking: number, end: number): boolean {
  const type = shim >>> 28;
  const npt = (shim >>> 26) & 3;
  const length = (shim >>> 16) & 255;
  if (type === 2) return scan.fail(CODES.UNSUPPORTED_SHIM_TYPE, 'shim', p);
  if (type !== 1 && type !== 3) return scan.fail(CODES.BAD_SHIM_TYPE, 'shim', p);
  // NPT 0 goes with DSCP and probe marker, NPT 1 and 2 with the destination port; nothing else is defined.
  if (marking === MARKING.PORT ? npt !== 1 && npt !== 2 : npt !== 0) return scan.fail(CODES.BAD_NPT, 'shim', p);
  if (length < 3) return scan.fail(CODES.BAD_SHIM_LENGTH, 'shim', p + 1);
  const intEnd = p + 4 + 4 * length;
  if (intEnd > scan.ipEnd) return scan.fail(CODES.SHIM_BEYOND_PACKET, 'shim', p + 1);
  if (!readIntHeader(scan, type, 2, p + 4, intEnd, end)) return false;
  if (npt === 1) {
    scan.destinationPort = shim & 0xffff;
  } else if (npt === 2) {
    scan.encapsulation = UDP_NEW;
    if (!readPorts(scan, shim & 0xff, intEnd, Math.min(end, scan.ipEnd))) {
      return scan.fail(CODES.TRUNCATED, (shim & 0xff) === IP_PROTOCOL.TCP ? 'tcp' : 'udp', intEnd);
    }
  }
  return true;
}

function shimBefore2(scan: Scan, shim: number, p: number, marking: number, l4: number, end: number): boolean {
  const { view } = scan;
  const type = shim >>> 24;
  let length = (shim >>> 8) & 255;
  if (type === 2) return scan.fail(CODES.UNSUPPORTED_SHIM_TYPE, 'shim', p);
  if (type !== 1) return scan.fail(CODES.BAD_SHIM_TYPE, 'shim', p);
  if (p + 8 > end) return scan.fail(CODES.TRUNCATED, 'int', p + 4);
  const v05 = view.getUint8(p + 4) >>> 4 === 0 && !(scan.settings.oneWord && scan.reportVersion === 2);
  if (v05 && length === 0 && scan.settings.oneWord) {
    // INTCollector's generator writes Length 0 into v0.5 shims. Instruction Count and Total Hop Count give the length.
    length = 4 + (view.getUint8(p + 5) & 31) * view.getUint8(p + 7);
  }
  if (length < (v05 ? 4 : 3)) return scan.fail(CODES.BAD_SHIM_LENGTH, 'shim', p + 2);
  const intEnd = p + 4 * length;
  if (intEnd > scan.ipEnd) return scan.fail(CODES.SHIM_BEYOND_PACKET, 'shim', p + 2);
  if (!v05) return readIntHeader(scan, 1, 0, p + 4, intEnd, end);
  const tail = intEnd - TAIL_BYTES;
  if (!readIntHeader(scan, 1, 0, p + 4, tail, end)) return false;
  scan.intEnd = intEnd;
  if (intEnd > end) return scan.fail(CODES.TRUNCATED, 'tail', tail);
  // The tail always has the original port. It differs from the header's port only if the port marks INT.
  const port = view.getUint16(tail + 1);
  if (marking === MARKING.PORT && l4 === IP_PROTOCOL.UDP && port !== 0) scan.destinationPort = port;
  return true;
}

/** Reads IntMon over UDP (port 54321): a 12-byte header with length and original port, then the stack. */
export function readIntMon(scan: Scan, p: number, end: number): boolean {
  const { view } = scan;
  scan.clearInt();
  scan.encapsulation = UDP;
  scan.intVersion = 5;
  scan.shimOffset = p;
  if (p + 12 > end) return scan.fail(CODES.TRUNCATED, 'int', p);
  const length = view.getUint16(p + 8);
  if (length < 12) return scan.fail(CODES.BAD_SHIM_LENGTH, 'int', p + 8);
  if (p + length > scan.ipEnd) return scan.fail(CODES.SHIM_BEYOND_PACKET, 'int', p + 8);
  if (!readHeader2016(scan, p, p + 12, p + length, end)) return false;
  scan.destinationPort = view.getUint16(p + 10);
  return true;
}

/**
 * Reads the format of int-afxdp-kafka: INT directly behind a TCP header of 20 bytes. Byte 2 of the INT header is the
 * hop count; the bits of byte 4 select eight 4-byte fields. The tool checks no length; here all blocks must be there.
 */
export function readKafkaXdp(scan: Scan, p: number, end: number): boolean {
  const { view } = scan;
  scan.clearInt();
  scan.encapsulation = TCP;
  scan.intVersion = 4;
  scan.mode = 1;
  scan.layout = 0;
  scan.shimOffset = p;
  if (p + 12 > end) return scan.fail(CODES.TRUNCATED, 'int', p);
  const hops = view.getUint8(p + 6);
  scan.intOffset = p + 4;
  // The format has bits 0 to 7 only.
  scan.bitmap = view.getUint8(p + 8) << 8;
  let words = 0;
  for (let b = scan.bitmap; b !== 0; b &= b - 1) words++;
  scan.hopMl = words;
  // The hop-count column of a batch has 8 bits, and the reporting node may need a row as well.
  if (hops === 255 && words > 0) return scan.fail(CODES.BAD_HOP_COUNT, 'int', p + 6);
  scan.stackOffset = p + 12;
  scan.stackEnd = scan.intEnd = p + 12 + 4 * words * hops;
  scan.stride = words;
  scan.hopCount = words === 0 ? 0 : hops;
  if (scan.intEnd > end) {
    scan.hopCount = words === 0 ? 0 : Math.floor((end - scan.stackOffset) / (4 * words));
    return scan.fail(CODES.TRUNCATED, 'stack', end);
  }
  return true;
}
