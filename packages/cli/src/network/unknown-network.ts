import { DeviceProfile, Topology } from '@int/network';
import type { KnownNetwork } from './known-network.js';

/** Nothing is known. */
export const UNKNOWN_NETWORK: KnownNetwork = { device: DeviceProfile.NONE, topology: Topology.NONE };
