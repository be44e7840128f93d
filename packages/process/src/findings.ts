import type { FlowWindow, ImmediateEvent, NetworkWindow } from '@int/stream';
import type { OutgoingMessage } from './kafka/outgoing.js';
import { eventKey, windowKey } from './message-key.js';
import type { Findings } from './unit.js';

/** The names of the topics. */
export interface Topics {
  /** Reports, as a sink writes them. */
  readonly reports: string;
  /** Statistics of flows, switches and links. */
  readonly windows: string;
  /** Immediate events. */
  readonly immediate: string;
  /** From the processors of reports to that of the network. */
  readonly partials: string;
  /** The processors' state. */
  readonly state: string;
}

/** @param prefix of all names, such as `int.` */
export function topicsOf(prefix: string): Topics {
  const named = (name: string): string => `${prefix}${name}`;
  return {
    reports: named('reports'),
    windows: named('windows'),
    immediate: named('immediate'),
    partials: named('partials'),
    state: named('state'),
  };
}

const TEXT = /* @__PURE__ */ new TextEncoder();

/** Windows and events that wait for the next transaction, as messages and as objects. */
export class FindingsBuffer {
  readonly #topics: Topics;
  readonly #keepObjects: boolean;
  #messages: OutgoingMessage[] = [];
  #windows: (FlowWindow | NetworkWindow)[] = [];
  #events: ImmediateEvent[] = [];
  #windowCount = 0;
  #eventCount = 0;
  #bytes = 0;

  /** @param keepObjects whether anybody asks for windows and events as objects */
  constructor(topics: Topics, keepObjects: boolean) {
    this.#topics = topics;
    this.#keepObjects = keepObjects;
  }

  get bytes(): number {
    return this.#bytes;
  }

  window(window: FlowWindow | NetworkWindow): void {
    this.message({
      topic: this.#topics.windows,
      key: windowKey(window),
      value: TEXT.encode(JSON.stringify(window)),
      type: window.type,
    });
    this.#windowCount++;
    if (this.#keepObjects) this.#windows.push(window);
  }

  event(event: ImmediateEvent): void {
    this.message({
      topic: this.#topics.immediate,
      key: eventKey(event),
      value: TEXT.encode(JSON.stringify(event)),
      type: event.type,
    });
    this.#eventCount++;
    if (this.#keepObjects) this.#events.push(event);
  }

  message(message: OutgoingMessage): void {
    this.#messages.push(message);
    this.#bytes += message.key.length + (message.value?.length ?? 0);
  }

  take(): { readonly messages: OutgoingMessage[]; readonly findings: Findings } {
    const findings = {
      windowCount: this.#windowCount,
      eventCount: this.#eventCount,
      windows: this.#windows,
      events: this.#events,
    };
    const taken = { messages: this.#messages, findings };
    this.#messages = [];
    this.#windows = [];
    this.#events = [];
    this.#windowCount = 0;
    this.#eventCount = 0;
    this.#bytes = 0;
    return taken;
  }
}
