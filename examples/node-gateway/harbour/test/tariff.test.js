import assert from "node:assert/strict";
import { test } from "node:test";
import { chargedDays, charges, discount, formatMoney } from "../src/tariff.js";

test("each started day counts (rule 6)", () => {
  assert.equal(chargedDays(1440), 1);
  assert.equal(chargedDays(1441), 2);
  assert.equal(chargedDays(1440 + 600), 2);
  assert.equal(chargedDays(180), 1);
});

test("under two hours is free", () => {
  assert.equal(chargedDays(119), 0);
});

test("a tanker pays for its goods", () => {
  const { total } = charges({ kind: "tanker", gross: 1000, hazard: true }, 600);
  assert.equal(total, 16000 + 45000 + 76000);
});

test("money is printed in whole cents", () => {
  assert.equal(formatMoney(123456789), "1,234,567.89");
  assert.equal(formatMoney(-5), "-0.05");
});

test("the third call is cheaper", () => {
  assert.equal(discount(1000, 3), 900);
  assert.equal(discount(1000, 2), 1000);
});
