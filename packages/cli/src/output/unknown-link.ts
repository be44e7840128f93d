import { CODES, type TelemetryRecord } from '@int/codec';
import { CODE_MESSAGES } from '@int/codec/internals';

/** The record of a frame with an unsupported link type. */
export const UNKNOWN_LINK: TelemetryRecord = /* @__PURE__ */ Object.freeze<TelemetryRecord>({
  index: 0,
  status: 'unsupported',
  error: {
    code: 'UNSUPPORTED_LINK_TYPE',
    layer: 'link',
    offset: 0,
    message: CODE_MESSAGES[CODES.UNSUPPORTED_LINK_TYPE]!,
  },
  report: null,
  int: null,
  flow: null,
  path: [],
  hops: [],
});
