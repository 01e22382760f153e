/** From the lower end of an axis to its upper. */
export type Range = readonly [number, number];

const STEPS = [1, 2, 5];

/** Round numbers inside `range`: about `count` of them on a linear axis, 1-2-5 or whole decades on a logarithmic one. */
export function ticks([low, high]: Range, log: boolean, count: number): number[] {
  if (!log || high / low < 10) return linearTicks(low, high, count);
  const decades = Math.log10(high / low);
  const steps = decades * STEPS.length > count * 1.6 ? [1] : STEPS;
  const values: number[] = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1) {
    values.push(...steps.map((step) => step * 10 ** power));
  }
  return values.filter((v) => v >= low && v <= high);
}

function linearTicks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([...STEPS, 10].find((s) => s * power >= raw) ?? 10) * power;
  const values: number[] = [];
  for (let i = Math.ceil(low / step); i * step <= high; i += 1) values.push(Number((i * step).toPrecision(12)));
  return values;
}
