/**
 * A fence: what is before it in the program is before what is behind it, for all threads.
 *
 * A sequentially consistent store and load of a word that nobody else uses: accesses do not move down over the store,
 * nor up over the load, and the two keep their order. (The compiler leaves out the instruction that is made for this.)
 */
import { address, FENCE } from './context';

@inline
export function fence(): void {
  atomic.store<u32>(address(FENCE), 0);
  fenced = atomic.load<u32>(address(FENCE));
}

let fenced: u32 = 0;
