import fc from 'fast-check';

/** One seed for all properties, from INT_SEED or fixed; fast-check prints it when a property fails. */
const seed = Number(process.env.INT_SEED ?? 20_261_120) | 0;

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
