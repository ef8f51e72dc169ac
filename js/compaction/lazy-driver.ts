/** Where the driver of the host's summarizers is loaded from when one is first wanted: an entry says whence its Wasm comes. */
type Driver = Pick<typeof import("./driver.js"), "drive" | "checkpointDue" | "checkpointTaken">;

export const driver: { load: () => Promise<Driver> } = { load: () => import("./driver.js") };
