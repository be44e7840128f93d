/** Runs of bytes. No byte outside of a run is read or written: it may be the last one of the memory. */

export function copy(to: usize, from: usize, count: u32): void {
  if (count >= 16) {
    const last = <usize>count - 16;
    for (let at: usize = 0; at < last; at += 16) v128.store(to + at, v128.load(from + at));
    v128.store(to + last, v128.load(from + last));
  } else if (count >= 8) {
    const last = <usize>count - 8;
    const end = load<u64>(from + last);
    store<u64>(to, load<u64>(from));
    store<u64>(to + last, end);
  } else if (count >= 4) {
    const last = <usize>count - 4;
    const end = load<u32>(from + last);
    store<u32>(to, load<u32>(from));
    store<u32>(to + last, end);
  } else {
    for (let at: usize = 0; at < <usize>count; at++) store<u8>(to + at, load<u8>(from + at));
  }
}

export function isSame(one: usize, other: usize, count: u32): bool {
  if (count >= 16) {
    const last = <usize>count - 16;
    let difference = v128.xor(v128.load(one + last), v128.load(other + last));
    for (let at: usize = 0; at < last; at += 16) {
      difference = v128.or(difference, v128.xor(v128.load(one + at), v128.load(other + at)));
    }
    return !v128.any_true(difference);
  }
  if (count >= 8) {
    const last = <usize>count - 8;
    return load<u64>(one) == load<u64>(other) && load<u64>(one + last) == load<u64>(other + last);
  }
  if (count >= 4) {
    const last = <usize>count - 4;
    return load<u32>(one) == load<u32>(other) && load<u32>(one + last) == load<u32>(other + last);
  }
  for (let at: usize = 0; at < <usize>count; at++) if (load<u8>(one + at) != load<u8>(other + at)) return false;
  return true;
}
