import type { DeviceProfile } from '@int/network';
import type { FlowWindow, ImmediateEvent, NetworkWindow, WindowCorrection } from '@int/stream';
import type { OutgoingMessage } from './kafka/outgoing.js';
import { eventKey, windowKey } from './message-key.js';
import type { Findings } from './unit.js';
import { withUnits } from './units.js';

/** The names of the topics. */
export interface Topics {
  /** Reports, in the format of a sink. */
  readonly reports: string;
  /** Statistics of flows, switches and links. */
  readonly windows: string;
  /** Immediate events. */
  readonly immediate: string;
  /** Partials, from the flow sides to the network side. */
  readonly partials: string;
  /** The processors' state. */
  readonly state: string;
}

/** The group whose topic names do not contain the group's name. */
export const DEFAULT_GROUP = 'int-process';

/**
 * The topics of a group. All groups share the topic of reports. All other topics are the group's own, so that groups
 * never read each other's partials or state, and their results stay separate.
 *
 * @param prefix prefix of all names, such as `int.`
 * @param group the group's name, which is part of the names, as in `int.GROUP.windows`, unless it is the default
 */
export function topicsOf(prefix: string, group: string = DEFAULT_GROUP): Topics {
  const own = group === DEFAULT_GROUP ? prefix : `${prefix}${group}.`;
  return {
    reports: `${prefix}reports`,
    windows: `${own}windows`,
    immediate: `${own}immediate`,
    partials: `${own}partials`,
    state: `${own}state`,
  };
}

const TEXT = /* @__PURE__ */ new TextEncoder();

type Found = { -readonly [Name in keyof Findings]: Findings[Name] };

function nothing(): Found {
  return { windowCount: 0, eventCount: 0, windows: [], corrections: [], events: [] };
}

/** Windows and events for the next transaction, as messages and as objects. */
export class FindingsBuffer {
  readonly #topics: Topics;
  readonly #keepObjects: boolean;
  readonly #device: DeviceProfile;
  #messages: OutgoingMessage[] = [];
  #findings = nothing();
  bytes = 0;

  /**
   * @param keepObjects whether windows and events are also needed as objects
   * @param device whose units the messages name
   */
  constructor(topics: Topics, keepObjects: boolean, device: DeviceProfile) {
    this.#device = device;
    this.#topics = topics;
    this.#keepObjects = keepObjects;
  }

  window(window: FlowWindow | NetworkWindow): void {
    this.#found(this.#topics.windows, windowKey(window), withUnits(window, this.#device));
    this.#findings.windowCount++;
    if (this.#keepObjects) this.#findings.windows.push(window);
  }

  correction(correction: WindowCorrection): void {
    this.#found(this.#topics.windows, windowKey(correction), correction);
    if (this.#keepObjects) this.#findings.corrections.push(correction);
  }

  event(event: ImmediateEvent): void {
    this.#found(this.#topics.immediate, eventKey(event), withUnits(event, this.#device));
    this.#findings.eventCount++;
    if (this.#keepObjects) this.#findings.events.push(event);
  }

  #found(topic: string, key: Uint8Array, found: { readonly type: string }): void {
    this.message({ topic, key, value: TEXT.encode(JSON.stringify(found)), type: found.type });
  }

  message(message: OutgoingMessage): void {
    this.#messages.push(message);
    this.bytes += message.key.length + (message.value?.length ?? 0);
  }

  take(): { readonly messages: OutgoingMessage[]; readonly findings: Findings } {
    const taken = { messages: this.#messages, findings: this.#findings };
    this.#messages = [];
    this.#findings = nothing();
    this.bytes = 0;
    return taken;
  }
}
