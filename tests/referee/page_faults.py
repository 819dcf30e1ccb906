"""Faults of a page with charts, as expressions of JavaScript that list them: what overlaps, is cut,
or is hard to read."""

#: Visible texts of a chart with their boxes, and boxes that leave the chart or overlap.
CLASHES = """(() => {
    const found = [];
    for (const place of document.querySelectorAll(".chart")) {
        const outer = place.getBoundingClientRect();
        const tiles = echarts.getInstanceByDom(place).getOption().series.some((s) => s.type == "treemap");
        const texts = [...place.querySelectorAll("svg text")]
            .filter((text) => text.textContent.trim() !== "")
            .map((text) => ({ said: text.textContent, box: text.getBoundingClientRect() }))
            .filter((text) => text.box.width > 0);
        for (const { said, box } of texts) {
            const across = Math.max(outer.left - box.left, box.right - outer.right);
            const out = Math.max(across, outer.top - box.top, box.bottom - outer.bottom);
            // Tiles cut their names by a mask.
            if (out > 2 && !tiles) found.push(`${place.id}: ${said} reaches out by ${out}`);
        }
        for (let i = 0; !tiles && i < texts.length; i++) {
            for (let j = i + 1; j < texts.length; j++) {
                const [a, b] = [texts[i].box, texts[j].box];
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                // The boxes of numbers at the corner of two axes touch.
                if (wide > 3 && high > 4) found.push(`${place.id}: ${texts[i].said} lies on ${texts[j].said}`);
            }
        }
    }
    return found;
})()"""

#: Tables whose last column is not within the page.
CUT = """[...document.querySelectorAll("details")].flatMap((part) => {
    part.open = true;
    const table = part.querySelector("table");
    if (!table) return [];
    const last = table.tHead.rows[0].lastElementChild.getBoundingClientRect();
    const room = table.parentElement.getBoundingClientRect();
    return last.right > room.right + 1 ? [`${part.innerText.slice(0, 30)}: ${last.right} of ${room.right}`] : [];
})"""

#: The contrast of each text of a chart with its ground, as WCAG 2 defines it, where it is less than 3.
FAINT = """(() => {
    const share = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const bright = (colour) => {
        const [r, g, b] = colour.match(/[0-9.]+/g).map(Number);
        return 0.2126 * share(r / 255) + 0.7152 * share(g / 255) + 0.0722 * share(b / 255);
    };
    const ground = bright(getComputedStyle(document.querySelector("section")).backgroundColor);
    const tiled = (place) => echarts.getInstanceByDom(place).getOption().series.some((s) => s.type == "treemap");
    const places = [...document.querySelectorAll(".chart")].filter((place) => !tiled(place));
    return places.flatMap((place) => [...place.querySelectorAll("svg text")]).flatMap((text) => {
        const [a, b] = [bright(getComputedStyle(text).fill), ground].sort((a, b) => b - a);
        const contrast = (a + 0.05) / (b + 0.05);
        return contrast < 3 ? [`${text.textContent}: ${contrast}`] : [];
    });
})()"""
