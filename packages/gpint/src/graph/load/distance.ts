/** A place on the globe, in radians. */
export interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** Mean radius of the earth (IUGG), in km. */
const EARTH_KM = 6371.0088;

/** Light in vacuum in km per microsecond, divided by the group index of single-mode fibre at 1550 nm (ITU-T G.652). */
const FIBRE_KM_PER_MICROSECOND = 0.299792458 / 1.468;

/** Smallest cost of a link, also between two switches of one site. */
const LEAST_MICROSECONDS = 1;

/** A place from degrees as text; `null` unless both are present and valid. */
export function placeOf(latitude: string | undefined, longitude: string | undefined): Place | null {
  if (latitude === undefined || longitude === undefined) return null;
  const north = Number(latitude);
  const east = Number(longitude);
  if (!(Math.abs(north) <= 90 && Math.abs(east) <= 360)) return null;
  return { latitude: (north * Math.PI) / 180, longitude: (east * Math.PI) / 180 };
}

/** Time of light in fibre along the great circle (haversine formula), in microseconds, at least 1. */
export function microsecondsBetween(a: Place, b: Place): number {
  const north = Math.sin((b.latitude - a.latitude) / 2);
  const east = Math.sin((b.longitude - a.longitude) / 2);
  const h = north * north + Math.cos(a.latitude) * Math.cos(b.latitude) * east * east;
  const km = 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(h)));
  return Math.max(LEAST_MICROSECONDS, km / FIBRE_KM_PER_MICROSECOND);
}
