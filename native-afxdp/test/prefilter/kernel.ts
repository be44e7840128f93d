import { XdpError } from '@int/afxdp';
import { Prefilter, type PrefilterOptions } from '@int/afxdp/prefilter';
import { limit, skip } from '../../../.ci/test/requires.js';
import { addon } from '../addon.js';

/** A filter that is loaded but not attached. Skips the test where the kernel refuses programs, or nothing can build the addon. */
export function loadFilter(options: PrefilterOptions): Prefilter {
  if (process.platform !== 'linux') limit(`XDP programs run in Linux only, this is ${process.platform}`);
  addon();
  try {
    return Prefilter.load(options);
  } catch (error) {
    if (!XdpError.is(error)) throw error;
    if (error.code === 'ERR_XDP_PERMISSION') limit(`XDP programs cannot be loaded here: ${error.message}`);
    if (error.code === 'ERR_XDP_KERNEL') limit(`XDP programs cannot be loaded here: ${error.message}`);
    if (error.code === 'ERR_XDP_NOT_BUILT') skip(error.message);
    throw error;
  }
}
