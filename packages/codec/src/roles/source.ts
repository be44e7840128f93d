/** The source role: INT goes in (wire format chapters 3, 4.4, 5 and 8). */
import { crc32 } from '@int/hash';
import { parseAddress, writeAddress } from '../address.js';
import { ipv4HeaderChecksum } from '../checksum.js';
import { CODES } from '../codes.js';
import { CodecError } from '../errors.js';
import { readUint16, requireFit, writeUint16 } from '../headers/codec.js';
import { hopBlock } from '../headers/hop.js';
import { int2016, intMd, intMon, intMx, intV05, intV10 } from '../headers/int.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import { ETHER_TYPE } from '../headers/link.js';
import {
  greShim,
  INT_TYPE,
  intTail,
  probeMarker,
  shimV2,
  shimV05,
  shimV10,
  vxlanGpeShimV1,
  vxlanGpeShimV2,
} from '../headers/shim.js';
import { TUNNEL_PORT, vxlanGpe } from '../headers/tunnels.js';
import { udp } from '../headers/transport.js';
import type { Hop } from '../model.js';
import { LAYOUT, planFor } from '../plan.js';
import { INTMON_PORT } from '../scan/settings.js';
