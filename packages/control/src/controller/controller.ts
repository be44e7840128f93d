import type { ChangePlan } from '../change/change.js';
import type { DesiredEntity, DesiredState } from '../change/desired-state.js';
import { type Compiled, compile } from '../compile/compile.js';
import type { Intent } from '../intents/intent.js';
import type { NetworkModel } from '../model/network-model.js';
import { nextSwitches } from '../model/next-switches.js';
import { type Clock, SYSTEM_CLOCK } from '../reconcile/clock.js';
import { namesOf } from '../reconcile/known-switch.js';
import { Reconciler } from '../reconcile/reconciler.js';
import type { Cause, ReconcilerState } from '../reconcile/reconciler-state.js';
import type { Rehearsal } from '../twin/rehearsal.js';
import { ControlLoop } from './control-loop.js';
import type { ControllerMemory } from './controller-memory.js';
import type { ControllerOptions, Preview } from './controller-options.js';
import { EntryUndo } from './entry-undo.js';
import { ForgottenEntries } from './forgotten-entries.js';
import { outcomeOf } from './installation.js';
import type { EntryOrder, LoopAction, LoopInput, LoopNote, Order } from './loop-io.js';
import type { Proposal } from './proposal.js';
import { Retuning } from './retuning.js';
import { type Problem, ToldProblems } from './told-problems.js';
import type { UndoneEntry } from './undone-entries.js';

/** What has become of a rehearsal. */
interface Rehearsed {
  readonly rehearsal: Rehearsal | null;
  readonly seconds?: number;
  readonly refused: string | null;
}

/** Steps of which the actions are carried out at once; more would be a circle. */
const MOST_ROUNDS = 64;

/**
 * Closes the loop: gives a {@link ControlLoop} what telemetry says, and does what it wants. It compiles the intents, rehearses
 * changes on a twin, and has the reconciler install them.
 */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #loop: ControlLoop;
  readonly #reconciler: Reconciler;
  readonly #clock: Clock;
  #inputs: LoopInput[] = [];
  #isStepping = false;
  #cancelTimer: () => void = () => {};
  #isStopped = false;
  /** Nothing is wanted of the switches before. */
  #isStarted = false;
  /** Proposals that wait for the switches, with the names of their intents. */
  readonly #awaited = new Map<string, ReadonlySet<string>>();
  #desired: DesiredState = new Map();
  #problems: readonly Problem[] = [];
  readonly #toldProblems = new ToldProblems();
  /** Of what is wanted, and whether all switches have had it. */
  #cause: Cause = { owner: 'controller', reason: '' };
  #isCarriedOut = true;
  readonly #undos: EntryUndo;
  readonly #forgotten = new ForgottenEntries();
  readonly #retuning: Retuning | null;
  readonly #answers = new Map<Order, (error: string | null) => void>();
  #ups = '';

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#loop = new ControlLoop(options.policy, options.network.topology, options.device);
    this.#undos = new EntryUndo(options.memory?.undone ?? [], {
      journal: options.journal,
      p4infos: (switchId) => options.network.switches.get(switchId)?.p4info,
      proposals: () => this.#loop.proposals,
      wanted: () => this.#compiled(this.#loop.intents).desired,
      unsafety: (desired) => this.#unsafety(desired),
      tell: (...note) => this.#note(...note),
    });
    const { thresholds } = options;
    thresholds?.restore(options.memory?.thresholds ?? []);
    this.#retuning =
      thresholds === undefined
        ? null
        : new Retuning(thresholds, {
            loop: this.#loop,
            nameOf: (switchId) => options.network.topology.switchText(switchId),
            tell: (what, reason) => this.#tell({ atMs: this.#nowMs, what, proposal: null, by: 'detection', reason }),
          });
    this.#reconciler = new Reconciler({
      ...options.reconcile,
      connections: options.connections,
      clock: this.#clock,
      leadsTo: (...of) => nextSwitches(options.network.topology, ...of),
      onPlan: (plan) => this.#tellForgotten(plan),
      onRound: () => this.#reconciled(),
    });
  }

  /** What the switches have of it. */
  get state(): ReconcilerState {
    return this.#reconciler.state;
  }

  get loop(): Pick<
    ControlLoop,
    'proposals' | 'intents' | 'isStopped' | 'stopped' | 'failedLinks' | 'untracked' | 'policy' | 'recentActions'
  > {
    return this.#loop;
  }

  /** Gives the switches what they shall have without any proposal, and begins to measure. */
  start(intents: readonly Intent[], by: string): void {
    this.#isStarted = true;
    const { memory } = this.#options;
    if (memory != null) this.#doAll(this.#loop.restore(memory.loop, this.#nowMs));
    for (const { id, intents: own } of this.#loop.proposals.filter(({ pending }) => pending === 'install')) {
      this.#awaited.set(id, new Set(own.map((intent) => intent.id)));
    }
    this.give({ kind: 'intents', intents, by });
    this.#wait();
  }

  /** Tells the loop what has happened. */
  give(...inputs: readonly LoopInput[]): void {
    this.#inputs.push(...inputs);
    if (this.#isStepping) return;
    this.#isStepping = true;
    try {
      for (let round = 0; this.#inputs.length > 0 && round < MOST_ROUNDS; round++) {
        const taken = this.#inputs;
        this.#inputs = [];
        this.#doAll(this.#loop.step(this.#nowMs, taken));
      }
    } finally {
      this.#isStepping = false;
    }
  }

  /** What {@link ControllerOptions.memory} takes. */
  get memory(): ControllerMemory {
    const { thresholds } = this.#options;
    return { loop: this.#loop.memory, undone: this.undone, thresholds: thresholds?.memory ?? [] };
  }

  /** What was undone of the journal, and stays so. */
  get undone(): readonly UndoneEntry[] {
    return this.#undos.entries;
  }

  /** Does what a person asks for. @returns why nothing was done; `null`: it was done */
  order(order: Order | EntryOrder): Promise<string | null> {
    if ('entries' in order) return this.#orderEntries(order);
    return new Promise((resolve) => {
      this.#answers.set(order, resolve);
      this.give({ kind: 'order', order });
    });
  }

  /** Resolves when all switches have what they shall have, or when the controller is stopped. */
  settled(): Promise<void> {
    return this.#reconciler.settled();
  }

  #tellForgotten(plan: ChangePlan): void {
    const { topology } = this.#options.network;
    const known = new Set([...this.#desired.values()].flatMap((wanted) => wanted.flatMap(({ intents }) => intents)));
    for (const { intents } of this.#loop.proposals) for (const { id } of intents) known.add(id);
    const found = this.#reconciler.found.keys();
    const words = this.#forgotten.look(
      plan,
      found,
      (name) => known.has(name),
      (id) => topology.switchText(id),
    );
    if (words !== null) this.#note('forgotten', 'controller', words);
  }

  #note(what: LoopNote['what'], by: string, reason: string): void {
    this.#tell({ atMs: this.#nowMs, what, proposal: null, by, reason });
  }

  /** After a round of the reconciler's work. */
  #reconciled(): void {
    const { state } = this;
    if (state.isSettled) this.#isCarriedOut = true;
    this.#followSwitches();
    this.#tellProblems();
    for (const [proposal, intents] of [...this.#awaited]) {
      const outcome = outcomeOf(intents, state, this.#desired, this.#options.network.topology);
      if (outcome === null) continue;
      this.#awaited.delete(proposal);
      this.give({ kind: 'applied', proposal, error: outcome === 'done' ? null : outcome.error });
    }
  }

  /** What the switches shall have for intents, by default for those in force, and the changes that this takes. */
  preview(intents: readonly Intent[] = this.#loop.intents): Preview {
    const { conflicts, unplaced, desired: wanted } = this.#compiled(intents);
    const desired = this.#undos.in(wanted);
    const problems = [
      ...conflicts.map(({ refused, message }) => ({ intents: [refused], message, isConflict: true })),
      // Where there is no other path, a link that is to be avoided is used all the same.
      ...unplaced
        .filter(({ code }) => code !== 'NO_OTHER_PATH')
        // What is placed in part is told, and no reason to refuse it.
        .map(({ intent, code, message }) =>
          intent === null || code === 'PARTLY'
            ? { intents: [], message: intent === null ? message : `${intent}: ${message}`, isConflict: false }
            : { intents: [intent], message, isConflict: false },
        ),
    ];
    return { desired, problems, plan: this.#reconciler.plan(desired).plan };
  }

  #compiled(intents: readonly Intent[]): Compiled {
    const { compile: options, thresholds } = this.#options;
    const compiled = compile(this.#network, intents, this.#nowMs, options);
    return { ...compiled, desired: thresholds?.apply(compiled.desired) ?? compiled.desired };
  }

  /** Undoes entries of the journal, or wants them again. */
  async #orderEntries(order: EntryOrder): Promise<string | null> {
    const refusal = await (order.kind === 'undo' ? this.#undos.undo(order) : this.#undos.redo(order));
    if (refusal !== null) return refusal;
    this.#options.keeper?.now(this.memory);
    const words = order.kind === 'undo' ? 'are undone' : 'are wanted again';
    this.#want(this.preview(), order.by, `entries ${order.entries.join(', ')} of the journal ${words}`);
    return null;
  }

  /** Why a desired state must not be had; `null`: it may be. */
  async #unsafety(desired: DesiredState): Promise<string | null> {
    const { rehearse } = this.#loop.policy;
    if (rehearse !== 'required') return null;
    try {
      const { isSafe, violations } = await this.#rehearsed(this.#reconciler.plan(desired).plan, this.#loop.intents);
      return isSafe ? null : `the rehearsal found ${violations[0]?.message ?? 'a violation'}`;
    } catch (error) {
      return `the rehearsal failed: ${(error as Error).message}`;
    }
  }

  /** Ends the loop; the switches keep what they have. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#undos.close();
    this.#cancelTimer();
    for (const answer of this.#answers.values()) answer('the controller ends');
    this.#answers.clear();
    await this.#reconciler.close();
  }

  #wait(): void {
    if (this.#isStopped) return;
    this.#cancelTimer = this.#clock.schedule(this.#options.measureMs ?? 1000, () => {
      this.give({ kind: 'measurement', measurement: this.#options.traffic.measure(this.#nowMs) });
      this.#retune();
      this.#wait();
    });
  }

  /** Has switches take thresholds that have moved. */
  #retune(): void {
    const reason = this.#retuning?.step(this.#nowMs) ?? null;
    if (reason === null) return;
    this.#options.keeper?.now(this.memory);
    this.#want(this.preview(), 'detection', reason);
  }

  get #nowMs(): number {
    return this.#clock.nowMs();
  }

  /** The network with the sessions that are there. */
  get #network(): NetworkModel {
    const { network } = this.#options;
    const phases = new Map(this.state.switches.map(({ switchId, phase }) => [switchId, phase]));
    const switches = new Map(
      Array.from(network.switches, ([id, each]) => [id, { ...each, isUp: phases.get(id) !== 'absent' }]),
    );
    return { ...network, switches };
  }

  #doAll(actions: readonly LoopAction[]): void {
    const { keeper } = this.#options;
    // Switches are told what is known for sure after a restart, too.
    if (actions.some(({ kind }) => kind === 'apply')) keeper?.now(this.memory);
    else if (actions.length > 0) keeper?.soon(() => this.memory);
    for (const action of actions) this.#do(action);
  }

  #tell(note: LoopNote): void {
    const proposal = note.proposal === null ? null : this.#loop.proposals.find(({ id }) => id === note.proposal);
    this.#options.onNote?.(note, proposal ?? null);
  }

  #do(action: LoopAction): void {
    if (action.kind === 'note') this.#tell(action.note);
    else if (action.kind === 'answer') {
      this.#answers.get(action.order)?.(action.error);
      this.#answers.delete(action.order);
    } else if (action.kind === 'audit') this.#reconciler.refresh();
    else if (action.kind === 'rehearse') void this.#rehearse(action.proposal);
    else this.#apply(action);
  }

  /** Rehearses a proposal on the twin, which may take its time on another thread. */
  async #rehearse(proposal: Proposal): Promise<void> {
    let outcome: Rehearsed;
    try {
      outcome = await this.#rehearsalOf(proposal);
    } catch (error) {
      // A fault of the twin is no leave to act.
      outcome = { rehearsal: null, refused: `the rehearsal failed: ${(error as Error).message}` };
    }
    if (!this.#isStopped) this.give({ kind: 'rehearsed', proposal: proposal.id, ...outcome });
  }

  async #rehearsalOf(proposal: Proposal): Promise<Rehearsed> {
    const intents = [...this.#loop.intents, ...proposal.intents];
    const preview = this.preview(intents);
    const refused = refusalOf(preview, proposal.intents);
    if (refused !== null) return { rehearsal: null, refused };
    const minute = this.#options.traffic.minute(this.#nowMs);
    const rehearsal = await this.#rehearsed(preview.plan, intents, minute);
    return { rehearsal, seconds: minute.seconds, refused: null };
  }

  /** Rehearses changes of what the switches have now. */
  async #rehearsed(
    plan: ChangePlan,
    intents: readonly Intent[],
    minute = this.#options.traffic.minute(this.#nowMs),
  ): Promise<Rehearsal> {
    const { twin, linkLoad = 1 } = this.#options;
    const before: DesiredState = new Map(
      Array.from(this.#reconciler.found, ([id, entities]) => [
        id,
        entities.map((entity): DesiredEntity => ({ entity, intents: namesOf(entity), stage: 0 })),
      ]),
    );
    const network = { ...this.#network, failedLinks: this.#loop.failedLinks };
    const mayDrop = intents.filter((intent) => intent.kind === 'block' || intent.kind === 'limit');
    return await twin.rehearse(network, before, plan, minute, { linkLoad, mayDrop });
  }

  #apply({ proposal: id, by, reason }: Extract<LoopAction, { readonly kind: 'apply' }>): void {
    const preview = this.preview();
    const proposal = id === null ? undefined : this.#loop.proposals.find((each) => each.id === id);
    const refused = proposal === undefined ? null : refusalOf(preview, proposal.intents);
    if (refused !== null) {
      this.give({ kind: 'applied', proposal: id, error: refused });
      return;
    }
    if (proposal !== undefined) this.#awaited.set(proposal.id, new Set(proposal.intents.map((intent) => intent.id)));
    this.#want(preview, proposal?.intents[0]?.owner ?? by, reason);
    if (proposal === undefined) this.give({ kind: 'applied', proposal: null, error: null });
  }

  /** When a switch comes or goes, paths go another way. */
  #followSwitches(): void {
    const ups = [...this.#network.switches.values()].map(({ id, isUp }) => `${id}${isUp ? '+' : '-'}`).join(' ');
    if (ups === this.#ups) return;
    const isFirst = this.#ups === '';
    this.#ups = ups;
    if (isFirst || !this.#isStarted || this.#loop.isStopped) return;
    const reason = 'a switch has come or gone';
    // What is under way keeps its author.
    const { owner, reason: of } = this.#cause;
    if (this.#isCarriedOut) this.#want(this.preview(), 'controller', reason);
    else this.#want(this.preview(), owner, of.endsWith(reason) ? of : `${of}; ${reason}`);
  }

  #tellProblems(): void {
    const isAll = this.state.switches.every(({ phase }) => phase !== 'absent');
    const words = this.#toldProblems.look(this.#problems, isAll);
    if (words !== null) this.#note('hindered', 'controller', words);
  }

  #want({ desired, problems }: Preview, owner: string, reason: string): void {
    this.#cause = { owner, reason };
    this.#isCarriedOut = false;
    this.#problems = problems;
    this.#tellProblems();
    const { thresholds } = this.#options;
    thresholds?.follow(desired, this.#loop.intents);
    this.#undos.endOvertaken();
    this.#desired = thresholds?.apply(desired) ?? desired;
    this.#reconciler.want(this.#desired, { owner, reason });
  }
}

/** Why intents of a proposal cannot be had. */
function refusalOf({ problems }: Preview, intents: readonly Intent[]): string | null {
  const ids = new Set(intents.map(({ id }) => id));
  return problems.find((each) => each.intents.some((id) => ids.has(id)))?.message ?? null;
}
