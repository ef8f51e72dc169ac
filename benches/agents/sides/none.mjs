/** No management: the whole history. */
export const none = () => ({ request: (history) => history });
